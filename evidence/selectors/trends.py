"""How a model, a collection or the whole bench changed: use, speed, failures and usefulness, by day or week."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Q, QuerySet, Sum

from evidence.counting.statistics import Share, wilson
from evidence.models import Tally
from evidence.selectors.standing import Wanted, tallies

SUMMED = ("asked", "answered", "empty", "failed", "seconds", "useful", "not_useful")
DAY, WEEK = 1, 7


@dataclass(frozen=True, slots=True)
class Point:
    """A day, or the week that begins with it. `seconds` is what its answers took together.

    `useful` is of those of its calls that were judged, whenever that was.
    """

    start: date
    asked: int
    answered: int
    empty: int
    failed: int
    seconds: float
    useful: Share

    @property
    def failures(self) -> Share:
        """Calls that brought nothing: failed or empty."""
        return wilson(self.failed + self.empty, self.asked)

    @property
    def mean_seconds(self) -> float | None:
        """Of the answered calls: the tallies hold no more of each than their sum."""
        return self.seconds / self.answered if self.answered else None


def trend(wanted: Wanted, alias: str = "", step: int = DAY) -> list[Point]:
    """One point for each day or week from the first to the last with a call, the empty ones too. One query."""
    rows = _of(tallies(wanted), alias).values_list("day").annotate(*(Sum(name) for name in SUMMED))
    sums: dict[date, list[float]] = {}
    for day, *counts in rows:
        start = day - timedelta(days=day.weekday()) if step == WEEK else day
        before = sums.get(start, [0] * len(SUMMED))
        sums[start] = [a + b for a, b in zip(before, counts, strict=True)]
    return [_point(start, sums.get(start)) for start in _every(sums, step)]


def _of(found: QuerySet[Tally], alias: str) -> QuerySet[Tally]:
    """By the model that is called that now, and by what was called that then: a renamed model keeps its past."""
    return found.filter(Q(alias=alias) | Q(language_model__alias=alias)) if alias else found


def _every(sums: Iterable[date], step: int) -> list[date]:
    first, last = min(sums, default=None), max(sums, default=None)
    if first is None or last is None:
        return []
    return [first + timedelta(days=step * number) for number in range((last - first).days // step + 1)]


def _point(start: date, sums: list[float] | None) -> Point:
    asked, answered, empty, failed, seconds, useful, not_useful = sums or [0] * len(SUMMED)
    share = wilson(int(useful), int(useful + not_useful))
    return Point(start, int(asked), int(answered), int(empty), int(failed), seconds, share)
