"""What the edge has learned of a request, handed on in the ASGI scope: view, format, caller, body."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.wire.contract import Route, WireFormat
from keys.services import Caller

SCOPE_KEY = "bench"
# The apps below the gateway know the caller alone.
CALLER_KEY = "bench.caller"


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

    def in_scope(self) -> dict[str, Any]:
        return {SCOPE_KEY: self, CALLER_KEY: self.caller}


def asked_of(scope: Mapping[str, Any]) -> Asked:
    """What the edge put into a request's scope."""
    asked: Asked = scope[SCOPE_KEY]
    return asked
