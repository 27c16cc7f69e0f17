"""ASGI's own words as types, and what the edge has learned of a request, handed on in its scope: view, format, caller, body."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.chat import ChatRequest
from gateway.panel.request import Request
from gateway.wire.contract import Route, WireFormat
from keys.services import Caller

Scope = dict[str, Any]
Event = Mapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SCOPE_KEY = "bench"


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

    def request(self, chat: ChatRequest) -> Request:
        """What is asked of a panel, and by whom."""
        return Request(chat, self.caller, self.base_url, self.idempotency_key, self.is_retry)

    @property
    def format_route(self) -> Route:
        """The route, on a format's own routes."""
        assert self.route is not None
        return self.route


def asked_of(scope: Mapping[str, Any]) -> Asked:
    """What the edge put into a request's scope."""
    asked: Asked = scope[SCOPE_KEY]
    return asked
