"""What every upstream protocol offers, as a module, over HTTP or through a command; and how an upstream call fails.

UpstreamError   safe to show a caller: never the request, a key or an image
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from gateway.chat import Message

ErrorKind = Literal[
    "rate_limited",
    "context_too_long",
    "unauthorized",
    "payment_required",
    "not_found",
    "maybe_gone",
    "no_access",
    "retired",
    "wrong_endpoint",
    "output_limit",
    "overloaded",
    "timeout",
    "refused",
    "bad_reply",
    "unavailable",
    "interrupted",
]
# How long a limit holds; empty where that is not known.
Span = Literal["", "minute", "day", "month"]

LARGEST_ANSWER = 8_000_000

# Returns the key typed in for the endpoint, empty when there is none. Raises UpstreamError.
TypedKey = Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom to ask and how: an endpoint and a model as plain values. Names where the key is, never holds it. Limits in seconds.

    `typed_key_id` is set when a key was typed in for the endpoint; an environment variable that is set comes before it.
    """

    protocol: str
    base_url: str
    model: str
    api_key_env: str = ""
    typed_key_id: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    connect_timeout: float
    first_token_timeout: float
    seat_timeout: float


class Delta(NamedTuple):
    """What one event of an upstream's stream adds; empty fields add nothing. Its token counts are such as payload's count_of
    lets pass.

    A tuple, since there is one for every token, and a frozen dataclass takes three times as long to make.
    """

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls_tool: bool = False
    finish_reason: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitTold:
    """What a reply told of one limit: its field (requests_per_day, tokens_per_minute), how high it is, what is left of it.

    `reset_seconds` is how long until it is whole again. None: not told. `account`: counted for the whole account.
    """

    field: str
    limit: int | None = None
    remaining: int | None = None
    reset_seconds: float | None = None
    account: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What an upstream answered, reasoning apart from the answer. `empty_why` says why `text` is empty, when it is.

    `upstream_status` is None where the answer came through a command.
    """

    text: str
    reasoning: str = ""
    finish_reason: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    first_token_seconds: float | None = None
    empty_why: str = ""
    upstream_status: int | None = 200
    limits: tuple[LimitTold, ...] = ()


@dataclass(eq=False)
class UpstreamError(Exception):
    """A failed call: what kind, in words for people, and what had come of the answer before it failed.

    `retry_after` is in seconds; `window` and `output_limit`, in tokens, are what the error told of the model. `span`: which
    limit was hit, minute, day or month, where it is known; `pattern`: the ids that share it, where more than this one do
    (`*`, `*:free`). `limits`: what it told of limits in numbers.
    """

    message: str
    _: KW_ONLY
    kind: ErrorKind
    status: int | None = None
    retry_after: float | None = None
    window: int | None = None
    output_limit: int | None = None
    span: Span = ""
    pattern: str = ""
    limits: tuple[LimitTold, ...] = ()
    partial: str = ""
    reasoning: str = ""
    first_token_seconds: float | None = None

    def __str__(self) -> str:
        return self.message


class UpstreamProtocol(Protocol):
    # The route after an endpoint's base URL; `{model}` in it is the served id, quoted.
    PATH: str
    # How a stream's first bytes tell it from a whole reply; whatever else begins as JSON is one.
    STREAM_BEGINS: tuple[bytes, ...]

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


class CommandProtocol(Protocol):
    """What a protocol offers that is spoken by running a command: its input and output are its request and its reply."""

    # What to do when there is no such command.
    MISSING: str

    def build_command(self, model: str, options: Mapping[str, Any]) -> list[str]:
        """The command and its arguments, none of which a caller has a say in. Raises UpstreamError."""
        ...

    def build_input(self, messages: Sequence[Message]) -> bytes:
        """What the command reads. Raises UpstreamError for what it cannot be told."""
        ...

    def environment(self, api_key_env: str) -> dict[str, str]:
        """The whole environment of the command."""
        ...

    def parse_stream(self, blocks: Iterable[bytes]) -> Iterator[Delta]:
        """Read what the command writes, as it comes."""
        ...

    def parse_ending(self, said: bytes) -> Delta:
        """Read the standard error of a command that succeeded."""
        ...

    def parse_error(self, code: int, said: bytes) -> UpstreamError:
        """Read a failure from the exit code and the standard error: its kind, its words."""
        ...
