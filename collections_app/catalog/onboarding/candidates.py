"""Chat models that could be added: one line for each id that a provider serves, joined from every catalog that lists it.

Reads the catalogs' rows; which of them are worth adding here is for discover.py and serving.py to say.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from collections_app.catalog.onboarding.first_run import is_first_run, shipped_listings
from collections_app.catalog.same import same
from collections_app.models import CatalogEntry

# By precedence: of two that know a field, the first is believed.
CATALOGS = ("models_dev", "openrouter", "freellmapi")
# Free first; what only a plan's subscribers have for nothing comes last.
RANKS = {"zero": 0, "quota": 1, "local": 2, "": 3, "plan": 4}
FREE = ("zero", "quota", "local")


class Candidate(NamedTuple):
    """Tokens, USD per million tokens, ISO dates, as in CatalogEntry; None and the empty text are unknown.

    A tuple, since a page makes some 7,000 of them: a frozen dataclass of this size takes four times as long to make.
    """

    provider: str
    served_id: str
    name: str = ""
    free: str = ""
    context_window: int | None = None
    output_limit: int | None = None
    vision: bool | None = None
    tools: bool | None = None
    price_in: float | None = None
    price_out: float | None = None
    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    released: str = ""
    retires: str = ""
    family: str = ""
    same: str = ""
    sources: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return self.provider, self.served_id

    @property
    def rank(self) -> int:
        """How free it is: less is freer."""
        return RANKS.get(self.free, RANKS[""])

    @property
    def is_free(self) -> bool:
        return self.free in FREE

    def with_facts_of(self, other: "Candidate") -> "Candidate":
        """The same, and what it does not say as `other` has it."""
        pairs = zip(self[:-1], other[:-1], strict=True)
        return Candidate._make((*(_first(pair) for pair in pairs), (*self.sources, *other.sources)))


COLUMNS = Candidate._fields[:-1]


def candidates(catalogs: Sequence[str] = CATALOGS, **only: Any) -> list[Candidate]:
    """Every chat model that `catalogs` list and none of them calls deprecated, joined; one query. `only` narrows the rows.

    Before the first reading of any catalog: as they shipped.
    """
    rows: Iterable[tuple[Any, ...]] = CatalogEntry.objects.filter(source__in=catalogs, gone_at=None, **only).values_list(
        "source", "kind", "deprecated", *COLUMNS
    )
    if not rows and catalogs == CATALOGS and is_first_run():
        rows = [row for row in _shipped() if all(row[3 + COLUMNS.index(name)] == value for name, value in only.items())]
    by_key: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for row in rows:
        by_key.setdefault((row[3], row[4]), []).append(row)
    return list(_joined(by_key.values(), catalogs))


@cache
def _shipped() -> list[tuple[Any, ...]]:
    """What shipped, as the rows would have it."""
    return [
        (name, entry.kind, entry.deprecated, *(getattr(entry, column) for column in COLUMNS[:-1]), same(entry.served_id))
        for name, listing in shipped_listings().items()
        for entry in listing.entries
    ]


def _joined(groups: Iterable[list[tuple[Any, ...]]], order: Sequence[str]) -> Iterator[Candidate]:
    for group in groups:
        if any(kind != CatalogEntry.Kind.CHAT or deprecated for _, kind, deprecated, *_ in group):
            continue
        if len(group) == 1:
            yield Candidate._make((*group[0][3:], (group[0][0],)))
            continue
        group.sort(key=lambda row: order.index(row[0]))
        facts = [_first(values) for values in list(zip(*group, strict=True))[3:]]
        yield Candidate._make((*facts, tuple(row[0] for row in group)))


def _first(values: Sequence[Any]) -> Any:
    """The first that is known; where nobody knows, what the column has for that."""
    return next((value for value in values if value is not None and value != ""), values[0])
