"""What every wire format offers, as a module: the same functions in the same order.

A format reads a caller's JSON into a ChatRequest and writes a PanelReply back in its own words. It sees no Django
model, no panel and no other format.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gateway.chat import ChatRequest
from gateway.reply import PanelReply

Task = Literal["generate", "count_tokens", "list_models", "show_model", "fixed", "watch", "agents"]
Streams = Literal["never", "when_asked", "unless_refused", "always"]


@dataclass(frozen=True, slots=True)
class Route:
    """One path of a format. `path` is a Django path pattern; `streams` says which requests get a stream.

    `variant` tells a format's own routes apart, for the format alone; where `query` names a parameter of the URL, its value
    is the variant. A `fixed` route always answers `body`.
    """

    method: str
    path: str
    task: Task
    streams: Streams = "never"
    variant: str = ""
    query: str = ""
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A reply ready to send: a JSON body and headers of the format's own."""

    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NoPanel:
    """A request that names a collection and asks it nothing, such as Ollama's load: its reply, if there is that collection."""

    model: str
    rendered: Rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCollection:
    """A collection as a list of models shows it, once for each reply mode. Limits in tokens, `created` in Unix time."""

    id: str
    description: str
    tags: Sequence[str]
    members: Sequence[str]
    shape: str
    reply: str
    merger: str
    explorers: int
    context_window: int | None
    output_limit: int | None
    capabilities: Sequence[str]
    created: int

    def as_bench(self) -> dict[str, Any]:
        """What formats with room for it tell of a collection beside their own fields."""
        return {
            "description": self.description,
            "tags": list(self.tags),
            "members": list(self.members),
            "shape": self.shape,
            "reply": self.reply,
            "merger": self.merger,
            "explorers": self.explorers,
            "together": {"context_window": self.context_window, "capabilities": list(self.capabilities)},
        }


class StreamEncoder(Protocol):
    """Turns a panel into one format's stream: events, each to be written by itself.

    Call start once, then text and keepalive as they come, then finish or error. One that can say which panel it is before
    any text also has `seated(panel_id)`.
    """

    content_type: str
    headers: Mapping[str, str]

    def start(self) -> tuple[bytes, ...]: ...
    def text(self, piece: str) -> tuple[bytes, ...]: ...
    def keepalive(self) -> tuple[bytes, ...]: ...
    def finish(self, reply: PanelReply) -> tuple[bytes, ...]: ...
    def error(self, status: int, message: str, **extra: Any) -> tuple[bytes, ...]: ...


class Refuses(Protocol):
    """What refusals are told by: every format, and the protocol of agents."""

    NAME: str

    def render_error(self, status: int, message: str, **extra: Any) -> Any: ...


class WireFormat(Protocol):
    """What a format's module has. One that repeats some of its errors in headers also has `error_headers(body)`."""

    NAME: str
    # Paths under these that no route has are refused in this format's words; the longest prefix counts.
    PREFIXES: tuple[str, ...]
    ROUTES: tuple[Route, ...]

    def parse_request(self, payload: Any, route: Route, **path: str) -> ChatRequest | NoPanel:
        """Read a caller's JSON, of a panel's route or a token count's. Raises BadRequest with what to send instead."""
        ...

    def render_reply(self, reply: PanelReply, route: Route) -> Rendered: ...

    def render_count(self, tokens: int) -> dict[str, Any]: ...

    def render_models(self, collections: Sequence[ListedCollection]) -> dict[str, Any]: ...

    def render_model(self, collection: ListedCollection) -> dict[str, Any]: ...

    def render_error(self, status: int, message: str, **extra: Any) -> Any:
        """Give a refusal the format's body. `extra`: code, param, bench, route; what a format has no room for it leaves out."""
        ...

    def stream_encoder(self, chat: ChatRequest, route: Route) -> StreamEncoder: ...
