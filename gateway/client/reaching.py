"""How a bench is reached: its address and the key are looked at before anything is sent, and no refusal repeats a secret.

Sends nothing itself.
"""

import re
from urllib.parse import urlsplit

import httpx2

from gateway.client.errors import RefusedError, UnreachableError

CONNECT_SECONDS = 10.0
# A bench writes something into every stream every few seconds; so long a silence is a connection that is gone.
SILENCE_SECONDS = 180.0
_PANEL = re.compile(r"[A-Za-z0-9-]+")


def http_client(url: str, key: str, transport: httpx2.AsyncBaseTransport | None) -> httpx2.AsyncClient:
    """Return what sends to the bench at `url`. Raises UnreachableError, and RefusedError for a key that is none."""
    here = _host(url) in ("127.0.0.1", "localhost", "::1")
    if not (key.isascii() and key.isprintable()):
        raise RefusedError(401, "The key that was set is none: it holds a line break or another character that no key has.")
    try:
        return httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
            transport=transport,
            # A proxy of the environment's leads elsewhere, never to this machine itself.
            trust_env=not here,
        )
    except (ValueError, OSError, ImportError, httpx2.InvalidURL) as error:
        # Not in the error's own words, since a proxy's address may hold a password.
        why = "the environment's proxy (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY) or certificates (SSL_CERT_FILE) cannot be used"
        raise UnreachableError(url, f"cannot be asked: {why} ({type(error).__name__}).") from error


def panel_path(panel: str) -> str:
    """A panel's path. Raises RefusedError where it can be no panel's id: another path may be another route."""
    if not _PANEL.fullmatch(panel):
        raise RefusedError(404, f"There is no panel {panel[:40]!r}. A panel's id is like p20260102-150405-7f3a.")
    return f"/bench/panels/{panel}"


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if "@" in url:
        raise UnreachableError(url.rpartition("@")[2], "is named with a user or password: set a gateway key instead.")
    if not usable or parts.query or parts.fragment:
        raise UnreachableError(url, "is no bench's address, which is like http://127.0.0.1:8123.")
    return parts.hostname or ""
