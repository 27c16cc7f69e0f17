"""Verdicts owed, those first that would change the most.

One verdict can come out either way: what it would change is how many places lie between the two ranks that the model would
then have on its kind of work, by the lower bound.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery, Sum

from collections_app.models import LanguageModel
from evidence.counting.statistics import Share, wilson
from evidence.models import Call, Tally
from evidence.selectors.calls import has_verdict
from evidence.selectors.standing import MERGER

# A model, a shape, the key of one of its tallies, answers without a verdict, calls, useful verdicts and others.
Row = tuple[int, str, int, int, int, int, int]
RULE = (
    "Ordered by how many places on its shape's leaderboard lie between where the model would stand after a useful and after "
    "a not useful verdict; then by how wide its interval is, then by how often it was asked."
)


class Owed(NamedTuple):
    """What one more verdict on a model's answers of one shape would change. `calls` is how many wait for one.

    `tally` is one of the tallies that it was read from. A plain tuple, since there are as many as models times shapes.
    """

    tally: int
    model: int
    shape: str
    merging: bool
    calls: int
    asked: int
    share: Share
    places: int

    @property
    def if_useful(self) -> Share:
        return wilson(self.share.hits + 1, self.share.of + 1)

    @property
    def if_not(self) -> Share:
        return wilson(self.share.hits, self.share.of + 1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """One call that a verdict is owed for, where it is to be found."""

    panel: int
    panel_id: str
    seat_name: str
    alias: str
    asked_at: datetime
    asked_by: str


def owed(shape: str = "") -> list[Owed]:
    """Every model and shape with answers to judge, what would change most first. Three queries.

    Models that can sit no more are left out: whatever is found of them, nothing would change.
    """
    sitting = set(LanguageModel.objects.exclude(status=LanguageModel.Status.RETIRED).order_by().values_list("pk", flat=True))
    found: list[Owed] = []
    for merging in (False, True):
        by_shape: dict[str, list[Row]] = defaultdict(list)
        for row in _rows(shape, merging):
            if row[0] in sitting:
                by_shape[row[1]].append(row)
        for rows in by_shape.values():
            found += _ranked(rows, merging)
    return sorted(found, key=lambda one: (-one.places, -one.share.width, -one.asked, one.tally))


def owed_altogether() -> int:
    """How many answers have no verdict."""
    return Tally.objects.filter(in_log=True).aggregate(calls=Sum("owed"))["calls"] or 0


def waiting(page: Sequence[Owed]) -> dict[int, Waiting]:
    """The newest call that each waits for a verdict on, for a page of them, by tally: three queries."""
    picked: dict[int, int] = {}
    for merging in (False, True):
        tallies = Tally.objects.filter(pk__in=[one.tally for one in page if one.merging == merging]).order_by()
        picked |= dict(tallies.values_list("pk", Subquery(_newest(merging).values("pk")[:1])))
    calls = Call.objects.filter(pk__in=[pk for pk in picked.values() if pk]).select_related("panel")
    by_key = {call.pk: call for call in calls.only("seat_name", "alias", "asked_at", "panel__panel_id", "panel__asked_by")}
    return {tally: _waiting(by_key[pk]) for tally, pk in picked.items() if pk in by_key}


def _waiting(call: Call) -> Waiting:
    return Waiting(call.panel_id, call.panel.panel_id, call.seat_name, call.alias, call.asked_at, call.panel.asked_by)


def _newest(merging: bool) -> QuerySet[Call]:
    of_it = Call.objects.filter(language_model=OuterRef("language_model"), shape=OuterRef("shape"))
    seats = Q(seat_name=Call.MERGER) if merging else ~Q(seat_name=Call.MERGER)
    return of_it.filter(~has_verdict(), seats, status=Call.Status.OK).order_by("-asked_at")


def _rows(shape: str, merging: bool) -> Iterator[Row]:
    tallies = Tally.objects.filter(seat=MERGER) if merging else Tally.objects.exclude(seat=MERGER)
    tallies = tallies.filter(shape=shape) if shape else tallies
    sums = [Sum(name) for name in ("owed", "asked", "useful", "not_useful")]
    yield from tallies.order_by().values_list("language_model", "shape").annotate(Max("pk"), *sums).iterator(chunk_size=5000)


def _ranked(rows: Sequence[Row], merging: bool) -> Iterator[Owed]:
    """What one verdict would do to each of those that are ranked together."""
    shares = [wilson(useful, useful + not_useful) for *_, useful, not_useful in rows]
    lows = sorted(share.low for share in shares)
    places: dict[Share, int] = {}
    for (model, shape, tally, calls, asked, _, _), share in zip(rows, shares, strict=True):
        if calls:
            if share not in places:
                places[share] = _between(lows, share)
            yield Owed(tally, model, shape, merging, calls, asked, share, places[share])


def _between(lows: Sequence[float], share: Share) -> int:
    """How many others stand between where a model would stand after a useful and after a not useful verdict."""
    low, high = wilson(share.hits, share.of + 1).low, wilson(share.hits + 1, share.of + 1).low
    # Itself is one of them, wherever it stands now.
    return bisect_left(lows, high) - bisect_right(lows, low) - (low < share.low < high)
