"""What trying a model comes to: whether it answered, how fast, and what to do when it did not.

The call itself is the gateway's, which this app knows by the name that the settings have for it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from threading import Event
from typing import Literal, cast

from django.conf import settings
from django.utils.module_loading import import_string

from collections_app.models import LanguageModel

Outcome = Literal["answered", "failed", "not tried"]


@dataclass(frozen=True, slots=True)
class Tried:
    """How one short call of one model went. `said` is what it answered or why it did not, redacted; `to_do` is for a person."""

    model: LanguageModel
    outcome: Outcome
    _: KW_ONLY
    seconds: float = 0.0
    said: str = ""
    kind: str = ""
    to_do: str = ""


# Yields each model's outcome as it comes; the last when all have ended. Once the event is set, nobody else is asked.
Trial = Callable[[Sequence[LanguageModel], Event], Iterator[Tried]]


def trial() -> Trial:
    """What tries models on this site."""
    return cast(Trial, import_string(settings.BENCH_TRIAL))
