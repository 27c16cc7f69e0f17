"""Discover: models worth adding, free first, and for each whether its provider is reachable and whether it is here already.

Finds and marks; what adds is onboarding/adding.py. Reachable means that an endpoint of the provider is here or that its key is
in the environment: of a variable its name is read, and whether it is set.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from collections_app.catalog.onboarding.candidates import Candidate, candidates
from collections_app.catalog.onboarding.offers import NEVER_OFFERED, Reach, reaches
from collections_app.catalog.same import same
from collections_app.families import family_lines
from collections_app.models import LanguageModel

ON_A_PAGE = 50
LONGEST_SEARCH = 100
# What the filter by price and terms offers, and what it lets through. What only a plan has is shown when it is asked for.
FREE_KINDS: Mapping[str, Callable[[Candidate], bool]] = {
    "": lambda one: one.free != "plan",
    "free": lambda one: one.is_free,
    "zero": lambda one: one.free == "zero",
    "quota": lambda one: one.free == "quota",
    "local": lambda one: one.free == "local",
    "paid": lambda one: not one.free,
    "plan": lambda one: one.free == "plan",
}
# Descending where the first is the most.
ORDERS: Mapping[str, tuple[Callable[[Candidate], Any], bool]] = {
    "newest": (lambda one: one.released, True),
    "window": (lambda one: one.context_window or 0, True),
    "price": (lambda one: inf if one.price_out is None else one.price_out, False),
    "provider": (lambda one: one.provider, False),
    "name": (lambda one: (one.name or one.served_id).lower(), False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What somebody looks for. `window` in tokens: at least that, and known. `order`: one of ORDERS, or empty: free first."""

    text: str = ""
    free: str = ""
    provider: str = ""
    vision: bool = False
    tools: bool = False
    window: int = 0
    reachable: bool = False
    new_family: bool = False
    order: str = ""
    page: int = 1


@dataclass(frozen=True, slots=True)
class Line:
    """A candidate with its marks: how its provider is reached, the aliases that are this very model here, and those that
    are the same model elsewhere."""

    candidate: Candidate
    reach: Reach
    here: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """One page of what was found; `providers` are all that there are to choose from, with how many models each has."""

    lines: tuple[Line, ...]
    total: int
    page: int
    pages: int
    providers: Mapping[str, int]

    @property
    def counted(self) -> str:
        """How many there are and which are shown: 1,234 models, 51 to 100 are shown."""
        if not self.total:
            return "No model is so."
        first = (self.page - 1) * ON_A_PAGE + 1
        shown = f", {first:,} to {first + len(self.lines) - 1:,} are shown" if self.pages > 1 else ""
        return f"{self.total:,} model{'' if self.total == 1 else 's'}{shown}."


@dataclass(slots=True)
class Bench:
    """What is here already: aliases by what they are, and every family line."""

    models: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    same: dict[str, list[str]] = field(default_factory=dict)
    lines: set[str] = field(default_factory=set)


def discover(wanted: Wanted) -> Found:
    """The page of candidates that `wanted` asks for; past the last page comes the last. Three queries in all."""
    known = [one for one in candidates() if one.provider not in NEVER_OFFERED]
    bench, reach = _bench(), reaches()
    found = _sorted(list(_wanted(known, wanted, bench, reach)), wanted.order, reach)
    pages = max(1, -(-len(found) // ON_A_PAGE))
    page = min(max(1, wanted.page), pages)
    shown = found[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]
    return Found(tuple(_line(one, bench, reach) for one in shown), len(found), page, pages, _counted(known))


def _wanted(known: Iterable[Candidate], wanted: Wanted, bench: Bench, reach: Mapping[str, Reach]) -> Iterator[Candidate]:
    words, may = wanted.text[:LONGEST_SEARCH].lower().split(), FREE_KINDS.get(wanted.free, FREE_KINDS[""])
    for one in known:
        if not may(one) or (wanted.provider and one.provider != wanted.provider):
            continue
        if (wanted.vision and not one.vision) or (wanted.tools and not one.tools):
            continue
        if wanted.window and (one.context_window or 0) < wanted.window:
            continue
        if wanted.reachable and not _reach(one, reach).is_there:
            continue
        if words and not _says(one, words):
            continue
        if not wanted.new_family or bench.lines.isdisjoint(family_lines(one.served_id, one.family)):
            yield one


def _says(one: Candidate, words: Sequence[str]) -> bool:
    text = f"{one.served_id} {one.name} {one.provider} {one.family}".lower()
    return all(word in text for word in words)


def _sorted(found: list[Candidate], order: str, reach: Mapping[str, Reach]) -> list[Candidate]:
    newest, descending = ORDERS["newest"]
    found.sort(key=lambda one: one.key)
    found.sort(key=newest, reverse=descending)
    if order in ORDERS:
        by, descending = ORDERS[order]
        found.sort(key=by, reverse=descending)
    else:
        found.sort(key=lambda one: (one.rank, not _reach(one, reach).is_there))
    return found


def _line(one: Candidate, bench: Bench, reach: Mapping[str, Reach]) -> Line:
    how = _reach(one, reach)
    here = [alias for endpoint in how.endpoints for alias in bench.models.get((endpoint.pk, one.served_id), ())]
    elsewhere = [alias for alias in bench.same.get(one.same, ()) if alias not in here] if one.same else []
    return Line(one, how, tuple(here), tuple(elsewhere))


def _reach(one: Candidate, reach: Mapping[str, Reach]) -> Reach:
    return reach.get(one.provider) or Reach()


def _bench() -> Bench:
    bench = Bench()
    for model in LanguageModel.objects.only("alias", "endpoint_id", "served_id", "family", "status"):
        bench.models.setdefault((model.endpoint_id, model.served_id), []).append(model.alias)
        bench.same.setdefault(same(model.served_id), []).append(model.alias)
        if model.status != LanguageModel.Status.RETIRED:
            bench.lines |= model.families
    return bench


def _counted(known: Iterable[Candidate]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for one in known:
        counts[one.provider] = counts.get(one.provider, 0) + 1
    return dict(sorted(counts.items()))
