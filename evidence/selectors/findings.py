"""What stands out: models that were wrong more than right, claims that one seat alone found, explorers better than members.

Says why, with numbers; changes nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import QuerySet, Sum

from collections_app.models import Collection, LanguageModel, Membership
from evidence.counting.claims import unique_of
from evidence.counting.statistics import Share, wilson
from evidence.models import Call, Tally, Verdict
from evidence.selectors.standing import Record, Wanted, records

# Fewer verdicts than this on either side promote nobody.
FEWEST_VERDICTS = 5
EXPLORING = (LanguageModel.Status.ACTIVE, LanguageModel.Status.AD_HOC)
LATEST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Wrong:
    """A model that was wrong more than right: its verdicts that were not useful, and its claims that did not hold."""

    record: Record
    verdicts: Share
    claims: Share

    @property
    def surest(self) -> float:
        return max(share.low for share in (self.verdicts, self.claims) if share.of)


@dataclass(frozen=True, slots=True)
class Claimed:
    """Claims of one verdict that are worth reading, and the call that made them."""

    verdict: Verdict
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How one model was judged in one kind of seat, in one collection and on one shape."""

    model: int
    alias: str
    seat: str
    may_explore: bool
    share: Share


@dataclass(frozen=True, slots=True)
class Promotion:
    """An explorer that stands above a member of the same collection on the same shape."""

    collection: Collection
    shape: str
    explorer: Standing
    member: Standing

    @property
    def sure(self) -> bool:
        """Whether the two intervals do not even touch."""
        return self.explorer.share.low > self.member.share.high


def wrong(wanted: Wanted) -> list[Wrong]:
    """Models whose false claims or not useful verdicts outweigh the others, those first of which that is surest. One query."""
    all_of_them = (
        Wrong(record, wilson(record.not_useful, record.judged), wilson(record.claims_false, _claims(record)))
        for record in records(wanted)
    )
    found = [one for one in all_of_them if any(2 * share.hits > share.of for share in (one.verdicts, one.claims))]
    return sorted(found, key=lambda one: (-one.surest, -one.record.judged, one.record.alias))


def _claims(record: Record) -> int:
    return record.claims_real + record.claims_false


def finders(wanted: Wanted) -> list[Record]:
    """Models with unique finds, those with the most first. One query."""
    return sorted((record for record in records(wanted) if record.unique_finds), key=lambda one: (-one.unique_finds, one.alias))


def latest_wrong() -> list[Claimed]:
    """The newest claims that did not hold: one query of the verdicts' key."""
    verdicts = _newest().exclude(false=[])
    return [Claimed(verdict, tuple(verdict.false)) for verdict in verdicts[:LATEST_SHOWN]]


def latest_finds() -> list[Claimed]:
    """The newest claims that one seat alone had: two queries."""
    found = list(_newest().filter(unique_finds__gt=0)[:LATEST_SHOWN])
    panels = {verdict.call.panel_id for verdict in found}
    others = Verdict.objects.filter(call__panel__in=panels, replaced_at=None).exclude(call__seat_name=Call.MERGER).order_by()
    said: dict[int, dict[int, list[str]]] = defaultdict(dict)
    for panel, pk, real in others.values_list("call__panel_id", "pk", "real"):
        said[panel][pk] = real
    return [Claimed(verdict, tuple(_alone(verdict, said[verdict.call.panel_id]))) for verdict in found]


def _alone(verdict: Verdict, said: dict[int, list[str]]) -> Iterator[str]:
    others = [claims for pk, claims in said.items() if pk != verdict.pk]
    return (claim for claim in verdict.real if any(unique_of([[claim], *others])[:1]))


def _newest() -> QuerySet[Verdict]:
    """By the key, which is the order in which they were given: no other index is needed."""
    verdicts = Verdict.objects.filter(replaced_at=None).select_related("call__panel").order_by("-pk")
    return verdicts.only(
        "real", "false", "useful", "given_at", "call__seat_name", "call__alias", "call__shape", "call__panel__panel_id"
    )


def promotions(collection: str = "") -> list[Promotion]:
    """Explorers whose lower bound is above that of the collection's weakest member, each judged often enough. Four queries.

    Both by their calls of the same collection and shape; explorers that may explore and are no members there.
    """
    places = {one.asked_as: one for one in Collection.objects.all() if not collection or one.asked_as == collection}
    members: dict[int, set[int]] = defaultdict(set)
    for pk, model in Membership.objects.order_by().values_list("collection_id", "language_model_id"):
        members[pk].add(model)
    found: list[Promotion] = []
    for (name, shape), standings in _judged(collection).items():
        if place := places.get(name):
            found += _above(place, shape, standings, members[place.pk])
    return sorted(found, key=lambda one: (not one.sure, one.member.share.low - one.explorer.share.low, one.explorer.alias))


def _above(collection: Collection, shape: str, standings: Iterable[Standing], members: set[int]) -> Iterator[Promotion]:
    sitting = [one for one in standings if one.seat == Tally.Seat.MEMBER and one.model in members]
    weakest = min(sitting, key=lambda one: one.share.low, default=None)
    for one in standings:
        explored = one.seat == Tally.Seat.EXPLORER and one.model not in members and one.may_explore
        if weakest and explored and one.share.low > weakest.share.low:
            yield Promotion(collection, shape, one, weakest)


def _judged(collection: str) -> dict[tuple[str, str], list[Standing]]:
    """How models were judged often enough, by collection and shape."""
    tallies = Tally.objects.exclude(seat=Tally.Seat.MERGER).exclude(useful=0, not_useful=0).exclude(language_model=None)
    tallies = tallies.filter(collection_name=collection) if collection else tallies
    rows = (
        tallies.order_by()
        .values_list("collection_name", "shape", "seat", "language_model")
        .annotate(Sum("useful"), Sum("not_useful"))
    )
    enough = [row for row in rows if row[4] + row[5] >= FEWEST_VERDICTS]
    models = LanguageModel.objects.in_bulk({row[3] for row in enough})
    found: dict[tuple[str, str], list[Standing]] = defaultdict(list)
    for name, shape, seat, model, useful, not_useful in enough:
        row = models[model]
        share = wilson(useful, useful + not_useful)
        found[name, shape].append(Standing(model, row.alias, seat, row.status in EXPLORING, share))
    return found
