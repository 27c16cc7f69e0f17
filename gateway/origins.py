"""From where a request may come: the Host it names, and the page that a browser says sent it; and what such a page may read.

A foreign Host is DNS rebinding, a foreign page is somebody else's script in the caller's browser: both are refused before
anything is read. Pages of BENCH_ALLOWED_ORIGINS may call the gateway's routes, never the dashboard's.
"""

import re
from collections.abc import Iterable, Mapping

from gateway.asked import Event, Send
from gateway.conf import conf
from gateway.errors import HostRefused, OriginRefused, ProxyRefused

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PLAIN_NAME = re.compile(r"[a-z0-9-]{1,60}")
_MOST_NAMES = 60
_SHOWN_NOWHERE = (
    (b"X-Content-Type-Options", b"nosniff"),
    (b"X-Frame-Options", b"DENY"),
    (b"Cross-Origin-Resource-Policy", b"same-origin"),
)
# What proxies and tunnels add to a request, by the beginnings of the names. Some add only a part.
_ADDED_BY_PROXIES = (
    "cf-",
    "fastly-",
    "fly-",
    "forwarded",
    "true-client-ip",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-forwarded",
    "x-original-",
    "x-real-ip",
)
# How long a browser may keep a preflight's answer, in seconds.
_PREFLIGHT_KEPT = b"600"


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
    """Raise OriginRefused for a request that a browser says another site's page sent, unless that page's origin is allowed.

    `navigation_allowed`: a person may follow a link from elsewhere to this page.
    """
    site = headers.get("sec-fetch-site", "")
    if navigation_allowed and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document":
        return
    origin = headers.get("origin")
    foreign = site in ("cross-site", "same-site") or (origin is not None and not _is_own(origin, headers.get("host", "")))
    if foreign:
        raise OriginRefused(
            "A page of another site sent this request, and this server takes none from there. "
            "BENCH_ALLOWED_ORIGINS names the pages that may call the gateway."
        )


def came_through_a_proxy(headers: Iterable[str]) -> bool:
    """Whether a proxy has left its mark among the names of a request's headers.

    One on this machine makes every caller look local, and this gives it away.
    One that adds nothing and names this machine's Host cannot be told from a local caller.
    """
    return any(name.lower().startswith(_ADDED_BY_PROXIES) for name in headers)


def refuse_a_proxy(headers: Mapping[str, str], *, trusted: bool) -> None:
    """Raise ProxyRefused where nobody is asked for a key and a proxy that is not trusted brings somebody from elsewhere."""
    if came_through_a_proxy(headers) and not trusted:
        raise ProxyRefused(
            "A proxy or tunnel brought this request, and this bench, which asks nobody for a key, answers to this machine "
            "alone. Set BENCHWARMERS_ADMIN_TOKEN (and BENCHWARMERS_PUBLIC_URL) to open it to others, or, for a proxy that "
            "brings nobody from elsewhere, BENCH_TRUSTED_PROXIES to its address."
        )


def allowed_origin(headers: Mapping[str, str]) -> str | None:
    """The page's origin, when it is one that may call the gateway. Compared whole: no wildcard, no prefix."""
    origin = headers.get("origin", "")
    return origin if origin and origin in conf.allowed_origins else None


def is_preflight(method: str, headers: Mapping[str, str]) -> bool:
    return method == "OPTIONS" and "access-control-request-method" in headers


def preflight_answer(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """What an allowed page may send: any plain header name it asks for; SDKs ask for about ten of their own."""
    asked = [name.strip().lower() for name in headers.get("access-control-request-headers", "").split(",")]
    names = [name for name in asked if _PLAIN_NAME.fullmatch(name)][:_MOST_NAMES]
    answer = [
        (b"Access-Control-Allow-Methods", b"GET, HEAD, POST"),
        (b"Access-Control-Allow-Headers", ", ".join(names or ["authorization", "content-type"]).encode()),
        (b"Access-Control-Max-Age", _PREFLIGHT_KEPT),
    ]
    if headers.get("access-control-request-private-network") == "true":
        answer.append((b"Access-Control-Allow-Private-Network", b"true"))
    return answer


def readable_by(origin: str | None, send: Send) -> Send:
    """Have every reply say which page may read it, and no page show it or guess at what it is.

    Caches must tell callers' origins apart as soon as any is allowed.
    """
    said = [*_SHOWN_NOWHERE, *([(b"Vary", b"Origin")] if conf.allowed_origins else [])]
    if origin:
        said += [
            (b"Access-Control-Allow-Origin", origin.encode("latin-1")),
            (b"Access-Control-Expose-Headers", b"X-Bench-Panel, X-Bench-Seats, Retry-After"),
        ]

    async def sent(event: Event) -> None:
        if event["type"] == "http.response.start":
            event = {**event, "headers": [*event.get("headers", ()), *said]}
        await send(event)

    return sent


def _is_own(origin: str, host: str) -> bool:
    """Whether it is the origin of the host that was asked, or the public URL, whose proxy may ask under another host."""
    own = {f"http://{host}".lower(), f"https://{host}".lower(), conf.public_url}
    return bool(origin) and origin.lower() in own
