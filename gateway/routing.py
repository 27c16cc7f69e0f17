"""Where an admitted request goes: streams to Channels, everything else to DRF."""

import asyncio
from collections.abc import Mapping
from functools import cache, partial
from inspect import iscoroutinefunction
from io import BytesIO
from typing import Any, cast

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.utils.module_loading import import_string

from gateway.asked import EDGE_KEY, SCOPE_KEY, TRUSTED_PROXY_KEY, App, Asked, Event, Receive, Scope, Send, asked_of, raw_headers
from gateway.consumers import EventsConsumer, StreamConsumer
from gateway.mcp import BENCH_KEY
from gateway.workers.ledger import ledger


async def _agents_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Hand a call of an agent's to the protocol, with the edge for whatever its tools ask."""
    kept = {name: scope[name] for name in (TRUSTED_PROXY_KEY,) if name in scope}

    async def bench(inner: Scope, receive: Receive, send: Send) -> None:
        await scope[EDGE_KEY]({**inner, **kept}, receive, send)

    pending: list[Event] = [{"type": "http.request", "body": asked_of(scope).body, "more_body": False}]

    async def with_body() -> Event:
        return pending.pop() if pending else await receive()

    answer = await asyncio.to_thread(_agents_protocol)
    await answer({**scope, BENCH_KEY: bench}, with_body, send)


@cache
def _agents_protocol() -> App:
    """Loaded by the first call of an agent's: half a second and 45 MB that a bench without agents never spends."""
    return cast(App, import_string("gateway.mcp.http.mcp_app"))


_STREAMS: Mapping[str, App] = {
    "agents": _agents_app,
    "generate": StreamConsumer.as_asgi(),  # type: ignore[no-untyped-call]
    "watch": EventsConsumer.as_asgi(),  # type: ignore[no-untyped-call]
}


async def stream_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Hand a request that gets a stream to its consumer."""
    await _STREAMS[asked_of(scope).format_route.task](scope, receive, send)


async def json_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Run the view that the edge resolved, and send its reply.

    Django's own handler would do the same with two hops to a new thread for signals and half a millisecond of CPU; its
    middleware is the dashboard's.
    """
    asked = asked_of(scope)
    with BytesIO(asked.body) as body:
        response = await _respond(asked, ASGIRequest(scope, body))
    # DRF's view and its request hold one another, and this scope, until the collector of cycles comes by: megabytes of
    # pictures do not wait for it.
    del scope[SCOPE_KEY]
    headers = [*raw_headers(dict(response.items())), (b"Content-Length", str(len(response.content)).encode())]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})


async def _respond(asked: Asked, request: ASGIRequest) -> HttpResponse:
    if iscoroutinefunction(asked.view):
        response: Any = await asked.view(request, **asked.path)
    else:
        response = await asyncio.wrap_future(ledger().run(partial(_rendered, asked, request)))
    return response  # type: ignore[no-any-return]


def _rendered(asked: Asked, request: ASGIRequest) -> Any:
    """A synchronous view is database work: it is done where all of the gateway's is."""
    response = asked.view(request, **asked.path)
    return response.render() if hasattr(response, "render") else response
