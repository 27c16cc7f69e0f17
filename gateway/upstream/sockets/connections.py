"""Pooled connections whose every read and write obeys the clock of the call that uses them.

urllib3's timeouts bound one `recv`: an upstream that sends a byte now and then would hold a seat for ever.
"""

import http.client
import ssl
from functools import cache
from typing import Any

from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from gateway.conf import conf
from gateway.upstream.sockets.chunked import Dechunker
from gateway.upstream.sockets.clock import Clock
from gateway.upstream.sockets.headers import read_headers, read_lines
from gateway.upstream.sockets.timed import TimedSocket

# The provider hosts whose connections are kept; more are served too, on new connections.
KEPT_HOSTS = 64
# Addresses of which what makes their connections is kept, which takes longer to put together than to look up.
KEPT_ADDRESSES = 256
READ_AT_MOST = 64 * 1024


class Response(http.client.HTTPResponse):
    def __init__(self, sock: TimedSocket) -> None:
        super().__init__(sock, method="POST")  # type: ignore[arg-type]
        self._dechunker = Dechunker()

    def begin(self) -> None:
        """Read the head as http.client does, but for its parser, and for what comes before an answer.

        It takes 103, early hints, for the answer itself: the real one would be the next caller's.
        """
        version, status, reason = self._read_status()  # type: ignore[attr-defined]
        while status < http.client.OK:
            read_lines(self.fp)
            version, status, reason = self._read_status()  # type: ignore[attr-defined]
        if not version.startswith(("HTTP/1.", "HTTP/0.9")):
            raise http.client.UnknownProtocol(version)
        self.code = self.status = status
        self.reason = reason.strip()
        self.version = 10 if version in ("HTTP/1.0", "HTTP/0.9") else 11
        self.headers = self.msg = read_headers(self.fp)
        self.chunked = (self.headers.get("transfer-encoding") or "").lower() == "chunked"
        self.chunk_left = None
        self.length = None if self.chunked else _length_in(self.headers)
        if status in (http.client.NO_CONTENT, http.client.NOT_MODIFIED):
            self.length = 0
        # A body of which neither says where it ends goes on until the connection is closed.
        closes: bool = self._check_close()  # type: ignore[attr-defined]
        self.will_close = closes or (not self.chunked and self.length is None)

    def read1(self, n: int = -1) -> bytes:
        """Read what has come, at least a byte until the body ends."""
        if not self.chunked or self.fp is None:
            return super().read1(n)
        block = b""
        while not block and not self._dechunker.ended:
            read = self.fp.read1(READ_AT_MOST)
            if not read and not self._dechunker.in_trailers:
                raise http.client.IncompleteRead(b"")
            if not read:
                break
            block = self._dechunker.feed(read)
        if not block:
            self.close()
        return block

    @property
    def is_whole(self) -> bool:
        """Of a body that has ended: whether that was its own end, and not the connection's."""
        return self._dechunker.ended if self.chunked else not self.length


def _length_in(headers: http.client.HTTPMessage) -> int | None:
    """Raises HTTPException for several that differ: by which of them a body is read, what follows may be another's."""
    lengths = [length.strip() for line in headers.get_all("content-length", ()) for length in line.split(",")]
    told = set(filter(None, lengths))
    if len(told) > 1:
        raise http.client.HTTPException("several lengths of one body")
    try:
        length = int("".join(told))
    except ValueError:
        return None
    return length if length >= 0 else None


class _Timed(HTTPConnection):
    response_class = Response

    def serve(self, clock: Clock) -> None:
        """Begin a call, connected. `clock` holds for every read and write until the next begins."""
        if self.is_closed:
            clock.reused = False
            self.timeout = clock.connect_limit
            self.connect()
            self._timed = TimedSocket(self.sock)
        self._timed.serve(clock)

    @property
    def is_connected(self) -> bool:
        """What urllib3 asks of a kept connection before it lends it."""
        return self.sock is not None and not self._timed.speaks()

    def send_all(self, data: bytes) -> None:
        """Send a request's head or body."""
        self._timed.send(data)

    def answer(self) -> Response:
        """The reply to a request that was sent, its head read and its body still to come."""
        response = Response(self._timed)
        try:
            response.begin()
        except BaseException:
            response.close()
            raise
        if response.will_close:
            # Its body is read all the same: the file of the response holds the socket open.
            self.close()
        return response


class _TimedSecurely(_Timed, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Timed


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _TimedSecurely


class TimedAdapter(HTTPAdapter):
    """requests' pools of connections. Used without a Session: no cookies kept, no redirects, no environment."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        self._contexts: dict[tuple[str, str, int], tuple[Any, dict[str, Any]]] = {}
        super().init_poolmanager(*args, ssl_context=trusted(), **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def pool(self, scheme: str, host: str, port: int) -> HTTPConnectionPool:
        """The connections to one address. Every certificate is checked, against what `trusted` holds."""
        pools: PoolManager = self.poolmanager
        where = scheme, host, port
        kept = self._contexts.get(where)
        if kept is None:
            named = {"scheme": scheme, "host": host, "port": port, "cert_reqs": "CERT_REQUIRED"}
            context = {**pools.connection_pool_kw, **named}
            kept = pools.key_fn_by_scheme[scheme](context), context
            # Another thread may empty it at any time, and finds nothing missing.
            if len(self._contexts) >= KEPT_ADDRESSES:
                self._contexts.clear()
            self._contexts[where] = kept
        key, context = kept
        # A copy, of which urllib3 takes what a new pool is made with.
        return pools.connection_from_pool_key(key, dict(context))


@cache
def trusted() -> ssl.SSLContext:
    """Whose certificates are believed: the system's, where an operator adds their own, and those that requests ships."""
    context = ssl.create_default_context()
    context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
    return context


@cache
def adapter() -> TimedAdapter:
    """The process's connections, as many kept for a host as seats are answered at once."""
    return TimedAdapter(pool_connections=KEPT_HOSTS, pool_maxsize=conf.seat_workers)
