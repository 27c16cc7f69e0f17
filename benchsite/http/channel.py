"""A connection's bounds: how long a request may take to come and a reply to be read, and how much of either may lie in
memory meanwhile.

Nothing here knows who asks; that is found out when a request is whole (gateway/edge.py).
"""

from functools import cache
from http.client import responses
from time import monotonic
from typing import Any

import orjson
from django.conf import settings
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel

# A request's lines and headers have Twisted's 60 s, from when the connection was free for them; a body as long again, and
# a second more for so many bytes that it has brought: 20 MB over a slow line may take 20 minutes, a drip ends. What is
# left unread of a reply that is whole has the same.
GRACE_SECONDS = 60.0
SLOWEST_BYTES_PER_SECOND = 16_000
# How many bodies of the longest kind may be half there at once.
BODIES_HELD = 8
# A body over the cap is read to its end, so that its caller is told so in its format's words; up to so many times the cap.
MOST_READ = 4


class BenchChannel(HTTPChannel):
    """Twisted's HTTP/1.1 connection for callers who may mean ill.

    Twisted's own time-out starts anew with each byte, so that a drip would keep a request open for ever.
    """

    _body_began = 0.0
    _body_bytes = 0
    _leaves = False
    _host: Any = None
    refused = False
    transport: Any

    def getHost(self) -> Any:  # noqa: N802 (Twisted's name)
        # Asked for with every request, by a system call.
        if self._host is None:
            self._host = super().getHost()
        return self._host

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 (Twisted's name)
        # The rest of a refused request may look like another, which Twisted would answer.
        if not self.refused:
            super().lineReceived(line)

    def resetTimeout(self) -> None:  # noqa: N802 (Twisted's name)
        if not self.line_mode and not self._handlingRequest:
            super().resetTimeout()

    def allHeadersReceived(self) -> None:  # noqa: N802 (Twisted's name)
        self._body_began, self._body_bytes = monotonic(), 0
        self.setTimeout(GRACE_SECONDS)
        super().allHeadersReceived()

    def rawDataReceived(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        if self.refused:
            return
        if not self._handlingRequest:
            self._body_bytes += len(data)
            if self._body_bytes > longest_read():
                return self.refuse_too_long()
            allowed = GRACE_SECONDS + self._body_bytes / SLOWEST_BYTES_PER_SECOND
            if monotonic() - self._body_began > allowed:
                return self.refuse(408, "The body came too slowly. Send it again, shorter or over a better line.")
        super().rawDataReceived(data)

    def pauseProducing(self) -> None:  # noqa: N802 (Twisted's name)
        # Twisted would read on while a request is answered, without any bound if replies are not read.
        super().pauseProducing()
        self.transport.pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802 (Twisted's name)
        super().resumeProducing()
        if self._handlingRequest and sum(map(len, self._dataBuffer)) <= self._optimisticEagerReadSize:
            self.transport.resumeProducing()
        if self.paused:
            self.paused = False
            self.dataReceived(b"")

    def requestDone(self, request: Any) -> None:  # noqa: N802 (Twisted's name)
        """A whole reply was handed over. The next request waits until it is read, and its reader has not for ever."""
        self.paused = self._waitingForTransport
        reading = GRACE_SECONDS + self.unsent / SLOWEST_BYTES_PER_SECOND
        self._savedTimeOut = self._savedTimeOut and reading
        super().requestDone(request)
        if not self.persistent:
            # Twisted hangs up when all is read, and waits for that without an end.
            self.setTimeout(reading)

    @property
    def unsent(self) -> int:
        """The bytes of replies that their reader has not taken."""
        return int(len(self.transport.dataBuffer) - self.transport.offset + self.transport._tempDataLen)

    def timeoutConnection(self) -> None:  # noqa: N802 (Twisted's name)
        if self.requests and not self._handlingRequest and not self.refused:
            return self.refuse(408, "The request did not come to its end in time.")
        super().timeoutConnection()

    def leave(self) -> None:
        """Keep the connection for no other request: what is asked here, or is next, is answered and told so."""
        self._leaves = True
        if self.requests:
            # A reply that has begun cannot say it: whoever reads it sees the connection's end.
            self.persistent = self._no_more(self.requests[-1])

    def hang_up(self) -> None:
        """Close a connection on which nothing is asked. What the kernel has of a request by now is read first."""
        self.transport.doRead()
        if not (self.requests or self._buffer):
            self.loseConnection()

    @property
    def comes(self) -> bool:
        """Whether a request has begun to come and is not whole."""
        return bool(self.requests or self._buffer) and not self._handlingRequest

    def checkPersistence(self, request: Any, version: bytes) -> bool:  # noqa: N802 (Twisted's name)
        return self._no_more(request) if self._leaves else bool(super().checkPersistence(request, version))

    def _no_more(self, request: Any) -> bool:
        request.responseHeaders.setRawHeaders(b"connection", [b"close"])
        return False

    def refuse(self, status: int, message: str) -> None:
        """Answer a request that is not whole, and hang up: what else comes cannot be told from its rest."""
        self.refused = True
        body = error_body(status, message)
        lines = [
            f"HTTP/1.1 {status} {responses[status]}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *(["Retry-After: 1"] if status == 503 else []),
            "Connection: close",
        ]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        super().timeoutConnection()

    def refuse_too_long(self) -> None:
        """Read no more of a body whose caller cannot have meant it."""
        self.requests[-1].let_go()
        unfinished().drop(self)
        self.refuse(413, f"The body is far too long: {settings.BENCH_MAX_BODY_BYTES:,} bytes is the most.")

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 (Twisted's name)
        unfinished().drop(self)
        super().connectionLost(reason)


def longest_read() -> int:
    """The most bytes of one body that are read at all."""
    return MOST_READ * int(settings.BENCH_MAX_BODY_BYTES)


def error_body(status: int, message: str) -> bytes:
    """What a caller is told in no format's route, as JSON in OpenAI's shape."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return orjson.dumps({"error": {"message": message, "type": kind, "param": None, "code": None}})


class Unfinished:
    """The bytes of bodies that are not whole yet, by connection; past the most of them the oldest is refused.

    The oldest: whoever fills the memory by not ending is the one who loses it, and callers who send at once go on.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes: dict[BenchChannel, int] = {}
        self._total = 0

    def hold(self, channel: BenchChannel, count: int) -> None:
        """Count `count` more bytes of the channel's body; may refuse a request, this one if there is no other."""
        self._bytes[channel] = self._bytes.get(channel, 0) + count
        self._total += count
        while self._total > self._most:
            oldest = next(iter(self._bytes))
            self.drop(oldest)
            oldest.requests[-1].let_go()
            oldest.refuse(503, "Too many long bodies are coming in at once. Send this one again in a moment.")

    def drop(self, channel: BenchChannel) -> None:
        """Its body is whole, or will never be."""
        self._total -= self._bytes.pop(channel, 0)


@cache
def unfinished() -> Unfinished:
    """The process's own."""
    return Unfinished(BODIES_HELD * settings.BENCH_MAX_BODY_BYTES)
