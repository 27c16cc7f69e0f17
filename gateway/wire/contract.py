"""What every wire format offers, as a module: the same functions in the same order.

A format reads a caller's JSON into a ChatRequest and writes a PanelReply back in its own words. It sees no Django
model, no panel and no other format.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gateway.chat import ChatRequest
from gateway.reply import PanelReply

Task = Literal["generate", "list_models", "show_model"]


@dataclass(frozen=True, slots=True)
class Route:
    """One path of a format. `path` is a Django path pattern; `streams` says how a request asks for a stream."""

    method: str
    path: str
    task: Task
    streams: Literal["never", "when_asked"] = "never"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A reply ready to send: a JSON body and headers of the format's own."""

    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCollection:
    """A collection as a list of models shows it, once for each reply mode."""

    id: str
    description: str
    tags: Sequence[str]
    members: Sequence[str]
    shape: str
    reply: str
    merger: str
    explorers: int
    context_window: int | None
    capabilities: Sequence[str]
    created: int


class StreamEncoder(Protocol):
    """Turns a panel into one format's stream: events, each to be written by itself.

    Call start once, then text and keepalive as they come, then finish or error.
    """

    content_type: str

    def start(self) -> tuple[bytes, ...]: ...
    def text(self, piece: str) -> tuple[bytes, ...]: ...
    def keepalive(self) -> tuple[bytes, ...]: ...
    def finish(self, reply: PanelReply) -> tuple[bytes, ...]: ...
    def error(self, status: int, message: str, **extra: Any) -> tuple[bytes, ...]: ...


class WireFormat(Protocol):
    NAME: str
    ROUTES: tuple[Route, ...]

    def parse_request(self, payload: Any, **path: str) -> ChatRequest:
        """Read a caller's JSON. Raises BadRequest with what to send instead."""
        ...

    def render_reply(self, reply: PanelReply) -> Rendered: ...

    def render_models(self, collections: Sequence[ListedCollection]) -> dict[str, Any]: ...

    def render_model(self, collection: ListedCollection) -> dict[str, Any]: ...

    def render_error(self, status: int, message: str, **extra: Any) -> dict[str, Any]:
        """Give a refusal the format's body. `extra`: code, param, bench; what a format has no room for it leaves out."""
        ...

    def stream_encoder(self, chat: ChatRequest) -> StreamEncoder: ...
