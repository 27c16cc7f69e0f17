"""Which request may become a WebSocket: a page's of the dashboard's own, at the one address that speaks it.

Whatever else asks for an upgrade is served as the request that it is without.
"""

import re

from twisted.web.http_headers import Headers

from gateway.errors import Refusal
from gateway.origins import came_through_a_proxy, refuse_foreign_host, refuse_foreign_page

LIVE_PATH = b"/admin/live/"
_KEY = re.compile(rb"[A-Za-z0-9+/]{22}==")
# The library that speaks the protocol quotes others in what it answers.
_TAKEN = (
    b"host",
    b"origin",
    b"cookie",
    b"upgrade",
    b"connection",
    b"user-agent",
    b"sec-websocket-key",
    b"sec-websocket-version",
)


def is_handshake(method: bytes, path: bytes, headers: Headers) -> bool:
    """Whether a browser's page of this site asks for the dashboard's live channel, in the form that the protocol has."""
    if method != b"GET" or path != LIVE_PATH or _one(headers, b"upgrade").lower() != b"websocket":
        return False
    if _one(headers, b"sec-websocket-version") != b"13" or not _KEY.fullmatch(_one(headers, b"sec-websocket-key")):
        return False
    host, origin = (_one(headers, name).decode("latin-1") for name in (b"host", b"origin"))
    try:
        refuse_foreign_host({"host": host})
        refuse_foreign_page({"host": host, "origin": origin}, navigation_allowed=False)
    except Refusal:
        return False
    return True


def keep_what_is_read(headers: Headers) -> None:
    """Leave of a handshake's headers only those that somebody reads: a proxy's too, which tell that it is no local one."""
    for name, _ in list(headers.getAllRawHeaders()):
        if name.lower() not in _TAKEN and not came_through_a_proxy([name.decode("latin-1")]):
            headers.removeHeader(name)


def _one(headers: Headers, name: bytes) -> bytes:
    """A header that came once; nothing when it came more often."""
    values = headers.getRawHeaders(name, [])
    return values[0] if len(values) == 1 else b""
