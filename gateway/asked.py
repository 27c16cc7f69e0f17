"""What the edge has learned of a request, handed on in the ASGI scope: route, caller, body."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.wire.contract import Route, WireFormat
from keys.services import Caller

SCOPE_KEY = "bench"


@dataclass(frozen=True, slots=True)
class Asked:
    wire_format: WireFormat
    route: Route | None
    path: Mapping[str, str]
    caller: Caller
    base_url: str
    payload: Any = None


def asked_of(scope: Mapping[str, Any]) -> Asked:
    """What the edge put into a request's scope."""
    asked: Asked = scope[SCOPE_KEY]
    return asked
