"""What is known about one model, field by field: the value that holds, and by whom it is known.

Values alone, joined from rows that others read; who is believed is the order of SOURCES.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from collections_app.models.catalog.fact import FIELDS, SOURCES, Fact

OPERATOR = "operator"
# What the model's own row may say.
SET_BY_HAND = (
    "context_window",
    "output_limit",
    "vision",
    "tools",
    "requests_per_minute",
    "requests_per_day",
    "tokens_per_minute",
    "tokens_per_day",
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value in the unit of its field (FIELDS), the source that it is by, and since when that said so."""

    value: Any
    source: str
    since: datetime | None = None
    note: str = ""

    @property
    def by(self) -> str:
        """The source in words: set on this bench, models.dev."""
        return "set on this bench" if self.source == OPERATOR else Fact.SOURCE_NAMES[self.source]


@dataclass(frozen=True, slots=True)
class Known:
    """Every field that somebody knows, by name; all of its values, the one that holds first."""

    values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """The value that holds, or None when nobody knows."""
        held = self.values.get(name)
        return held[0].value if held else None

    def held(self, name: str) -> Value | None:
        """The same, with whose it is."""
        held = self.values.get(name)
        return held[0] if held else None


def known_by(own: Mapping[str, Any], facts: Iterable[Fact] = ()) -> Known:
    """Join what a model's own row says, by field, with the facts about what its endpoint serves under its id."""
    values: dict[str, list[Value]] = {name: [Value(value, OPERATOR)] for name, value in own.items() if value is not None}
    for fact in sorted(facts, key=lambda fact: SOURCES.index(fact.source)):
        if fact.field in FIELDS:
            values.setdefault(fact.field, []).append(Value(fact.value, fact.source, fact.known_since, fact.note))
    return Known({name: tuple(held) for name, held in values.items()})
