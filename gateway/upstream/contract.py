"""What every upstream protocol offers, as a module, and how an upstream call fails.

UpstreamError   safe to show a caller: never the request, a key or an image
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, Protocol

from gateway.chat import Message

ErrorKind = Literal[
    "rate_limited",
    "context_too_long",
    "unauthorized",
    "payment_required",
    "not_found",
    "retired",
    "overloaded",
    "timeout",
    "refused",
    "bad_reply",
    "unavailable",
    "interrupted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom to ask and how: an endpoint and a model as plain values. Names where the key is, never holds it."""

    protocol: str
    base_url: str
    model: str
    api_key_env: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    connect_timeout: float
    first_token_timeout: float
    seat_timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one event of an upstream's stream adds; empty fields add nothing."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls_tool: bool = False
    finish_reason: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What an upstream answered, reasoning apart from the answer. `empty_why` says why `text` is empty, when it is."""

    text: str
    reasoning: str = ""
    finish_reason: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    first_token_seconds: float | None = None
    empty_why: str = ""
    upstream_status: int = 200


@dataclass(eq=False)
class UpstreamError(Exception):
    """A failed call: what kind, in words for people, and what had come of the answer before it failed."""

    message: str
    _: KW_ONLY
    kind: ErrorKind
    status: int | None = None
    retry_after: float | None = None
    window: int | None = None
    partial: str = ""
    reasoning: str = ""
    first_token_seconds: float | None = None

    def __str__(self) -> str:
        return self.message


class UpstreamProtocol(Protocol):
    PATH: str

    def build_request(self, model: str, messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON body of a streamed call."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """How this protocol sends a key."""
        ...

    def parse_reply(self, payload: Any) -> Completion:
        """Read a whole reply. Raises UpstreamError."""
        ...

    def parse_stream(self, lines: Iterable[bytes]) -> Iterator[Delta]:
        """Read a stream's lines, without their ends. Raises UpstreamError, also when the stream ends early."""
        ...

    def parse_error(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        """Read a refusal or failure: its kind, its words, its wait."""
        ...
