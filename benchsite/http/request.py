"""Daphne's HTTP request with what a gateway needs: bodies bounded and in memory, forms left alone, errors in JSON.

It is written down nowhere: neither in Twisted's access log nor, where Daphne names a request, by its URI.
"""

from http.client import responses
from io import BytesIO
from typing import Any
from weakref import WeakSet

from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings

from benchsite.http.channel import BenchChannel, error_body, longest_read, unfinished
from benchsite.http.handshake import is_handshake, keep_what_is_read

# What Daphne would act on before any check of ours. A handshake goes to a parser of WebSockets, which quotes headers in what
# it answers; Daphne-Root-Path, from whomever it comes, moves every address of the site.
IGNORED_HEADERS = (b"upgrade", b"daphne-root-path")


class BenchRequest(WebRequest):
    """One request.

    Twisted spools a body over 100 kB into a file, however long it is; here it stays in memory, where an image belongs,
    and ends one byte past the cap: the edge sees that it was too long, and the rest is read and dropped.
    """

    content: BytesIO
    channel: BenchChannel
    _room = 0

    def gotLength(self, length: int | None) -> None:  # noqa: N802 (Twisted's name)
        self.content = BytesIO()
        self._room = settings.BENCH_MAX_BODY_BYTES + 1
        if length is not None and length > longest_read():
            return self.channel.refuse_too_long()
        encodings = self.requestHeaders.getRawHeaders(b"transfer-encoding", [])
        if [one.lower() for one in encodings] not in ([], [b"chunked"]):
            # Twisted passes over others than the first, and what is in front may have gone by another.
            self.channel.refuse(400, "Send Transfer-Encoding: chunked once, or Content-Length.")

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        kept = data[: self._room]
        self._room -= len(kept)
        self.content.write(kept)
        if kept:
            unfinished().hold(self.channel, len(kept))

    def let_go(self) -> None:
        """Keep nothing of a body that is refused while it comes."""
        self.content, self._room = BytesIO(), 0

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:  # noqa: N802 (Twisted's name)
        unfinished().drop(self.channel)
        if self.channel.refused:
            return
        # Twisted's own would parse a form here, which nothing below reads, and answer a broken one with an empty 400.
        self.content.seek(0)
        self.args: dict[bytes, list[bytes]] = {}
        self.method, self.uri, self.clientproto = command, path, version
        if not path.startswith(b"/") and b"://" in path:
            # A whole URL, as proxies are sent: it names the host that counts, whatever the Host header says.
            host, slash, rest = path.partition(b"://")[2].partition(b"/")
            self.requestHeaders.setRawHeaders(b"host", [host])
            self.uri = slash + rest or b"/"
        self.path = self.uri.partition(b"?")[0]
        if is_handshake(command, self.path, self.requestHeaders):
            keep_what_is_read(self.requestHeaders)
        else:
            for name in IGNORED_HEADERS:
                self.requestHeaders.removeHeader(name)
        self.client, self.host = self.channel.getPeer(), self.channel.getHost()
        self.process()

    def setResponseCode(self, code: int, message: bytes | None = None) -> None:  # noqa: N802 (Twisted's name)
        # Twisted has words for fewer of them: a 429 or a 422 would be an "Unknown Status".
        super().setResponseCode(code, message or responses.get(code, "").encode())

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """What Daphne refuses before an application sees it, and an application that broke: JSON, not Daphne's page."""
        headers = [(b"Content-Type", b"application/json")]
        if not self._response_started:
            self.handle_reply({"type": "http.response.start", "status": status, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": error_body(status, body)})

    def __repr__(self) -> str:
        # Daphne logs it when it gives a request up; Twisted's own has the query.
        return f"<{type(self).__name__} at {id(self):#x}>"


def use_bench_requests(factory: HTTPFactory, channels: WeakSet[Any]) -> None:
    """Have `factory`, which names Daphne's request class outright, build ours, and note its connections in `channels`.

    Call before it has a connection.
    """
    factory.log = _not_logged  # type: ignore[method-assign]
    factory.protocol = BenchChannel  # type: ignore[assignment]
    build = factory.buildProtocol

    def build_ours(address: Any) -> Any:
        protocol = build(address)
        protocol.requestFactory = BenchRequest
        channels.add(protocol)
        return protocol

    factory.buildProtocol = build_ours  # type: ignore[method-assign]


def _not_logged(request: Any) -> None:
    """Twisted writes each request's URI, referrer and user agent into its log, whoever reads that."""


def connected(channels: WeakSet[Any]) -> list[BenchChannel]:
    """Those that are not lost: what is lost has no socket any more, and is here until it is collected."""
    return [channel for channel in list(channels) if channel.transport is not None and channel.transport.connected]


def unsent(channels: WeakSet[Any]) -> bool:
    """Whether any connection still has bytes that its reader has not taken."""
    return any(channel.unsent for channel in connected(channels))
