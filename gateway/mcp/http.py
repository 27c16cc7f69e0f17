"""/mcp: streamable HTTP without sessions, each request on its own.

The edge has judged the request. Its tools ask the bench through the same edge, in this process and with the headers that the
request came with: what is refused to this caller on another route is refused here, by the same checks.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import cache
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from gateway.client import Bench, InProcess
from gateway.conf import conf
from gateway.mcp import BENCH_KEY
from gateway.mcp.server import build_server

Scope = dict[str, Any]
# As ASGI has them; the SDK's types for them are narrower than the specification.
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

# Headers that speak of one message; all others speak of who sent it, and from where.
_OF_A_MESSAGE = frozenset(
    {b"accept", b"connection", b"expect", b"idempotency-key", b"last-event-id", b"te", b"transfer-encoding"}
)
_OF_A_MESSAGE_TOO = (b"accept-", b"content-", b"mcp-", b"x-stainless-")
# Nothing is looked up by it: a request of the tools says the Host that its caller said.
_ADDRESS = "http://bench"


async def mcp_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request that the edge let in, and keep nothing of it.

    The SDK wants an app's lifespan for its manager of sessions, which neither Channels nor Daphne has: one lives as long as
    its request, which without sessions is all that it is for.
    """
    server = _server()
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=max(conf.max_body_bytes, 1),
        # The edge's own checks are stricter, and know which hosts were allowed.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    # Made by the call above, for this request alone.
    manager = server.session_manager
    async with manager.run():
        await manager.handle_request(scope, receive, send)


@cache
def _server() -> MCPServer[Any]:
    return build_server(_bench_for)


def _bench_for(ctx: Context[Any, Any]) -> Bench:
    request = ctx.request_context.request
    assert request is not None
    return Bench(_ADDRESS, transport=InProcess(_on_behalf_of(request.scope)))


def _on_behalf_of(scope: Scope) -> App:
    """The bench, asked with the headers of the request in `scope`: key, Host, Origin, whatever a proxy has added."""
    bench: App = scope[BENCH_KEY]
    caller = list(_headers(scope["headers"], of_a_message=False))

    async def asked(inner: Scope, receive: Receive, send: Send) -> None:
        headers = [*caller, *_headers(inner["headers"], of_a_message=True)]
        here: Scope = {name: scope[name] for name in ("scheme", "client", "server") if name in scope}
        await bench({**inner, **here, "headers": headers}, receive, send)

    return asked


def _headers(headers: Headers, *, of_a_message: bool) -> Iterator[tuple[bytes, bytes]]:
    for name, value in headers:
        if (name in _OF_A_MESSAGE or name.startswith(_OF_A_MESSAGE_TOO)) is of_a_message:
            yield name, value
