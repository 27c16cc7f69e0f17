"""From where a request may come: the Host it names, and the page that a browser says sent it.

A foreign Host is DNS rebinding, a foreign page is somebody else's script in the caller's browser: both are refused before
anything is read.
"""

from collections.abc import Mapping

from gateway.conf import conf
from gateway.errors import HostRefused, OriginRefused

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def refuse_foreign_host(headers: Mapping[str, str]) -> None:
    """Raise HostRefused unless the Host is this machine's own with the served port, or one that was allowed."""
    host = headers.get("host", "").lower()
    own = {f"{name}:{conf.port}" for name in _LOOPBACK}
    if host in own or host in {allowed.lower() for allowed in conf.allowed_hosts}:
        return
    raise HostRefused(
        f"This server does not answer to the host {host[:100]!r}. Use http://127.0.0.1:{conf.port}, "
        "or add the host to BENCH_ALLOWED_HOSTS."
    )


def refuse_foreign_page(headers: Mapping[str, str], *, navigation_allowed: bool) -> None:
    """Raise OriginRefused for a request that a browser says another site's page sent.

    `navigation_allowed`: a person may follow a link from elsewhere to this page.
    """
    site = headers.get("sec-fetch-site", "")
    if navigation_allowed and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document":
        return
    origin = headers.get("origin")
    foreign = site in ("cross-site", "same-site") or (origin is not None and not _is_own(origin, headers.get("host", "")))
    if foreign:
        raise OriginRefused("A page of another site sent this request, and this server takes none from there.")


def _is_own(origin: str, host: str) -> bool:
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())
