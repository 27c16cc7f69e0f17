"""Who really asked, when a proxy asks for them: the client's address, scheme and host by the headers of proxies that are
trusted.

Told by nobody else: from an address outside BENCH_TRUSTED_PROXIES these headers change nothing, here or anywhere else.
The headers stay in the request, so that what came through a proxy can still be told from what did not (local_login.py).
"""

from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network

from django.conf import settings

from benchsite.addresses import Address, address_of
from gateway.asked import TRUSTED_PROXY_KEY, App, Receive, Scope, Send

Network = IPv4Network | IPv6Network


class TrustedProxies:
    """The ASGI app around the edge: hands on requests of trusted proxies as those of whom they speak for."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if settings.BENCH_TRUSTED_PROXIES and scope["type"] in ("http", "websocket"):
            scope = seen_through(scope, networks(tuple(settings.BENCH_TRUSTED_PROXIES)))
        await self._app(scope, receive, send)


@cache
def networks(entries: tuple[str, ...]) -> tuple[Network, ...]:
    """Read addresses and CIDR ranges. Raises ValueError for anything else, a range with host bits set included."""
    return tuple(ip_network(entry) for entry in entries)


def seen_through(scope: Scope, trusted: tuple[Network, ...]) -> Scope:
    """Return `scope` with client, scheme and Host as a trusted proxy tells them; the very same when its sender is none."""
    peer = address_of(scope["client"][0]) if scope.get("client") else None
    if peer is None or not _is_one_of(peer, trusted):
        return scope
    told = {**scope, TRUSTED_PROXY_KEY: True, "client": [str(_client(scope, peer, trusted)), 0]}
    if (scheme := _last(scope, b"x-forwarded-proto").lower()) in ("http", "https"):
        told["scheme"] = scheme
    if host := _last(scope, b"x-forwarded-host"):
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        told["headers"] = [*others, (b"host", host.encode("latin-1"))]
    return told


def _client(scope: Scope, peer: Address, trusted: tuple[Network, ...]) -> Address:
    """The nearest address that is no trusted proxy's. Proxies append: what stands further left, anybody may have written."""
    client = peer
    for entry in reversed(_values(scope, b"x-forwarded-for")):
        address = address_of(_without_port(entry))
        if address is None:
            break
        client = address
        if not _is_one_of(address, trusted):
            break
    return client


def _values(scope: Scope, wanted: bytes) -> list[str]:
    """A header's values in order, of every line of it."""
    lines = (value.decode("latin-1") for name, value in scope["headers"] if name == wanted)
    return [value.strip() for line in lines for value in line.split(",")]


def _last(scope: Scope, wanted: bytes) -> str:
    return (_values(scope, wanted) or [""])[-1]


def _without_port(entry: str) -> str:
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry


def _is_one_of(address: Address, trusted: tuple[Network, ...]) -> bool:
    return any(address in network for network in trusted)
