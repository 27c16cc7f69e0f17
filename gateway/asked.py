"""ASGI's own words as types, and what the edge has learned of a request, handed on in its scope: view, format, caller, body."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from gateway.chat import ChatRequest
from gateway.panel.request import Request
from gateway.telemetry.spans import NO_TRACE, CallerTrace
from gateway.wire.contract import NoPanel, Route, WireFormat
from keys.services import Caller

Scope = dict[str, Any]
Event = Mapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SCOPE_KEY = "bench"
# The edge itself, for what asks the bench on the caller's behalf.
EDGE_KEY = "bench.edge"
# In the scope of a request that a trusted proxy brought (benchsite/proxies.py).
TRUSTED_PROXY_KEY = "bench.trusted_proxy"
# Larger bodies are read in a thread, so that other streams are not held up meanwhile.
LARGE_BODY_BYTES = 256_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as the edge let it in. `route` is None on the bench's own routes, which belong to no format."""

    view: Callable[..., Any]
    wire_format: WireFormat
    route: Route | None
    path: Mapping[str, str]
    caller: Caller
    base_url: str
    body: bytes
    payload: Any = None
    idempotency_key: str = ""
    is_retry: bool = False
    trace: CallerTrace = NO_TRACE

    async def parsed(self) -> ChatRequest | NoPanel:
        """The request in no format's words, read in a thread when it is large. Raises BadRequest."""
        read = partial(self.wire_format.parse_request, self.payload, self.format_route, **self.path)
        return await asyncio.to_thread(read) if len(self.body) > LARGE_BODY_BYTES else read()

    def request(self, chat: ChatRequest) -> Request:
        """What is asked of a panel, and by whom."""
        return Request(chat, self.caller, self.base_url, self.idempotency_key, self.is_retry, self.trace)

    @property
    def format_route(self) -> Route:
        """The route, on a format's own routes."""
        assert self.route is not None
        return self.route


def raw_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as ASGI sends them."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


def asked_of(scope: Mapping[str, Any]) -> Asked:
    """What the edge put into a request's scope."""
    asked: Asked = scope[SCOPE_KEY]
    return asked
