"""Connections whose every read has only the seconds that are left of a fetch.

A timeout alone bounds one `recv`: a place that sends a byte now and then would hold a refresh for ever.
"""

import http.client
import io
import ssl
from contextvars import ContextVar
from functools import cache
from socket import socket
from time import monotonic
from typing import Any

from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

# When the fetch under way must be over, by the monotonic clock.
ends_at: ContextVar[float] = ContextVar("catalog_fetch_ends_at")


def seconds_left() -> float:
    """Raises TimeoutError when there are none."""
    left = ends_at.get() - monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Reader(io.RawIOBase):
    """A response's socket file."""

    def __init__(self, file: io.RawIOBase, sock: socket) -> None:
        self._file = file
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(seconds_left())
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Reader(self.fp.detach(), sock))


class _Connection(HTTPConnection):
    response_class = _Response


class _SecureConnection(HTTPSConnection):
    response_class = _Response


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class TimedAdapter(HTTPAdapter):
    """requests' door to new connections. Used without a Session: no cookies kept, no redirects, nothing of the environment."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, ssl_context=_trusted(), **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def cert_verify(self, conn: Any, *args: Any, **kwargs: Any) -> None:
        conn.cert_reqs = "CERT_REQUIRED"


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed: the system's, where an operator adds their own, and those that requests ships."""
    context = ssl.create_default_context()
    context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
    return context
