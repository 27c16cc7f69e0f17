"""One question with named options, and what a model decided: plain values in no dialect's words.

Knows no HTTP; what a decision is good enough for is for whoever asked.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from gateway.upstream.contract import Target

Source = Literal["systemone", "openai", "chat"]
# The question's name, by which its answer comes back.
SHAPE = "shape"
INSTRUCTIONS = "What kind of task is the prompt asking for?"
# What a probe asks about: one short text, and two options to choose from.
TOY_TEXT = "All tests pass now."
TOY_OPTIONS: Mapping[str, str] = {"good": "The text is good news", "bad": "The text is bad news"}
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionTarget:
    """Whom to ask: the endpoint with the model's id and its limits, the dialect, and where it answers (none for chat)."""

    endpoint: Target
    dialect: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was chosen, and how sure that is, 0 to 1: the model's own word, else its highest probability, else 0."""

    choice: str
    confidence: float
    source: Source
    probabilities: Mapping[str, float] = field(default_factory=dict)


class Dialect(Protocol):
    """One way of asking typed questions over HTTP, as a module."""

    # The types of question that a probe tries, choice first.
    TYPES: tuple[str, ...]

    def build_choice(self, model: str, text: str, options: Mapping[str, str]) -> dict[str, Any]:
        """The JSON body that asks which of `options` (descriptions by name) `text` is."""
        ...

    def parse_choice(self, payload: Any) -> Decision:
        """Read the answer. Raises UpstreamError."""
        ...

    def build_toy(self, model: str, kind: str) -> dict[str, Any]:
        """The JSON body of one short question of a type."""
        ...

    def answers_toy(self, kind: str, payload: Any) -> bool:
        """Whether that question was answered as its type is."""
        ...


def sure_of(confidence: Any, probabilities: Mapping[str, float]) -> float:
    """How sure a choice is: what the model said itself, else the highest probability, else 0."""
    own = share_of(confidence)
    return max(probabilities.values(), default=0.0) if own is None else own


def share_of(value: Any) -> float | None:
    """`value` if it is a share, 0 to 1; NaN, a percentage or a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= 1 else None


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def at_one_place(url: str, base_url: str) -> bool:
    """Whether two URLs lead to one server: an endpoint's key goes nowhere else."""
    return _server(url) is not None and _server(url) == _server(base_url)


def _server(url: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host or parts.username is not None:
        return None
    return parts.scheme, host, port or _DEFAULT_PORTS[parts.scheme]
