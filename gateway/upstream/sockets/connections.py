"""Pooled connections whose every read and write obeys the clock of the call that uses them.

urllib3's timeouts bound one `recv`: an upstream that sends a byte now and then would hold a seat for ever.
"""

import http.client
import io
import ssl
from functools import cache
from socket import socket
from typing import Any

from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from gateway.conf import conf
from gateway.upstream.sockets.chunked import Dechunker
from gateway.upstream.sockets.clock import Clock, current_clock

# The provider hosts whose connections are kept; more are served too, on new connections.
KEPT_HOSTS = 64
READ_AT_MOST = 64 * 1024
WRITE_STEP = 256 * 1024


class _Reader(io.RawIOBase):
    """A response's socket file that may take only what the clock has left."""

    def __init__(self, file: io.RawIOBase, sock: socket, clock: Clock) -> None:
        self._file = file
        self._sock = sock
        self._clock = clock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._clock.left())
        count = self._file.readinto(buffer)
        if count:
            self._clock.heard = True
        return count

    def close(self) -> None:
        # A response that has its connection to itself holds the socket open until its file is closed.
        self._file.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Reader(self.fp.detach(), sock, current_clock.get()))
        self._dechunker = Dechunker()

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


class _Timed(HTTPConnection):
    response_class = _Response

    def connect(self) -> None:
        current_clock.get().reused = False
        super().connect()

    def send(self, data: Any) -> None:
        """Send a request's head or body, in steps, for over TLS the socket's timeout bounds each write and not all of them."""
        if self.sock is None:
            self.connect()
        clock = current_clock.get()
        for start in range(0, len(data), WRITE_STEP):
            self.sock.settimeout(clock.left())
            try:
                super().send(data[start : start + WRITE_STEP])
            except (ConnectionError, ssl.SSLEOFError):
                # Told here: urllib3 takes a broken pipe for a server that answers early, and reads on.
                clock.broke_off = True
                raise

    def getresponse(self) -> Any:
        current_clock.get().sent()
        return super().getresponse()


class _TimedSecurely(_Timed, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Timed


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _TimedSecurely


class TimedAdapter(HTTPAdapter):
    """requests' door to a pool of connections. Used without a Session: no cookies kept, no redirects, no environment."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, ssl_context=trusted(), **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def cert_verify(self, conn: Any, *args: Any, **kwargs: Any) -> None:
        """Check every certificate, against what `trusted` holds; requests would load its bundle again for each connection."""
        conn.cert_reqs = "CERT_REQUIRED"


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
