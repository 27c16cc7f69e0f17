"""The one door out: every request to an upstream goes through `post`, whichever protocol it speaks.

Sends bytes and yields bytes; knows no protocol and no JSON. Raises UpstreamError, and nothing else, for a failed call.
No redirect is followed, no cookie kept, no proxy or .netrc of the environment used. Each read and write is held to the
call's clock; how long a name's look-up may take is the resolver's to bound.
"""

from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException
from typing import Self
from urllib.parse import urlsplit

from urllib3.exceptions import HTTPError

from gateway.conf import conf
from gateway.upstream.contract import LARGEST_ANSWER, UpstreamError
from gateway.upstream.sockets.clock import Clock
from gateway.upstream.sockets.connections import TimedAdapter, adapter
from gateway.upstream.sockets.exchange import RawReply, exchange
from gateway.upstream.sockets.failures import TRANSPORT_ERRORS, cut_off, failure

LARGEST_ERROR = 64_000


class Reply:
    """An upstream's reply, lent for as long as a `with` goes on: its status and headers at once, its body as it comes."""

    def __init__(self, raw: RawReply, *, host: str, clock: Clock) -> None:
        self.status = raw.status
        self.headers = raw.headers
        self._raw = raw
        self._host = host
        self._clock = clock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._raw.close()

    def blocks(self, largest: int = LARGEST_ANSWER) -> Iterator[bytes]:
        """Yield the body as it comes. A body that ends early just ends. Raises UpstreamError."""
        size = 0
        while block := self._read():
            size += len(block)
            if size > largest:
                raise UpstreamError(f"the answer of {self._host} is larger than {largest:,} bytes", kind="bad_reply")
            yield block

    def drain(self) -> None:
        """Read the end of a body whose last word has come, so that the connection can serve another call."""
        self._clock.drain()
        try:
            for _ in self.blocks(LARGEST_ERROR):
                pass
        except UpstreamError:
            return

    def _read(self) -> bytes:
        try:
            return self._raw.read()
        except TRANSPORT_ERRORS as error:
            if cut_off(error):
                return b""
            raise failure(error, host=self._host, clock=self._clock) from error


def beginning_of(blocks: Iterable[bytes]) -> bytes:
    """As much of an error's body as is worth reading, and however little of it comes."""
    body = b""
    try:
        for block in blocks:
            body += block
            if len(body) >= LARGEST_ERROR:
                break
    except UpstreamError:
        # The status is known, and says more than how its explanation broke off.
        return body
    return body


def post(url: str, *, headers: Mapping[str, str], body: bytes, clock: Clock) -> Reply:
    """Send one request and lend its reply: the connection is given back, or closed when it was not read to its end."""
    host = _host(url)
    try:
        return Reply(_sent(url, headers=headers, body=body, clock=clock), host=host, clock=clock)
    except TRANSPORT_ERRORS as error:
        raise failure(error, host=host, clock=clock) from error


def _sent(url: str, *, headers: Mapping[str, str], body: bytes, clock: Clock) -> RawReply:
    headers = {**_sent_always(), **headers}
    try:
        return exchange(adapter(), url, headers=headers, body=body, clock=clock)
    except (OSError, HTTPException, HTTPError) as error:
        # A kept connection that its server had closed broke off under the request: no server has the whole of it. Once all
        # of it has left, a model may be at work on it, and nobody is asked twice.
        if not clock.never_left or isinstance(error, TimeoutError):
            raise
    return exchange(TimedAdapter(pool_connections=1, pool_maxsize=1), url, headers=headers, body=body, clock=clock)


def _sent_always() -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Accept": "text/event-stream, application/x-ndjson, application/json",
        # Compression would hold a stream's events back, and costs more than it saves on text this short.
        "Accept-Encoding": "identity",
        # Some providers' gateways refuse the names of HTTP libraries.
        "User-Agent": f"Benchsite/{conf.version}",
        # A collection is never a seat of another: a bench that gets this refuses.
        "X-Bench-Depth": "1",
    }


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or "the endpoint"
    except ValueError:
        return "the endpoint"
