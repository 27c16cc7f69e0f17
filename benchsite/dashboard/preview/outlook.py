"""Whom the next panel would seat, and why not the others: by the functions that seat a real one, so that it cannot differ.

Asks nobody, counts nothing against a limit, and takes no decision model's time: where one picks the shape, it is not asked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from collections_app.models import Collection, LanguageModel
from collections_app.roster import Roster
from evidence.selectors import staleness
from gateway.panel.seating import NEVER, Table, seat_explorers, seat_members, why_no_explorer
from gateway.panel.shape import GENERAL, VISION, ChosenShape, ShapeQuestion, choose_shape
from gateway.panel.size import fits
from gateway.reply import SkippedSeat

# Equals are drawn by lot. A seating is drawn so often, to tell who sits for sure from who may.
DRAWS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the next request is taken to be. `shape`: another than it would have; empty: that one."""

    shape: str = ""
    images: bool = False
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """When models were last asked on a shape, and how often: a panel counts those alone that it has to."""

    last_asked: Mapping[int, datetime | None]
    counts: Mapping[int, int]

    def calls(self, language_model_ids: Iterable[int]) -> Mapping[int, int]:
        return {pk: self.counts.get(pk, 0) for pk in language_model_ids}

    def turn(self, model: LanguageModel) -> tuple[float, int, str]:
        """Its place among those who may explore."""
        asked_at = self.last_asked.get(model.pk)
        return asked_at.timestamp() if asked_at else NEVER, self.counts.get(model.pk, 0), model.alias


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may explore. `chance` is "sits", "by lot" or "later"; `why` says so in words."""

    model: LanguageModel
    last_asked: datetime | None
    calls: int
    chance: str
    why: str


@dataclass(frozen=True, slots=True)
class Barred:
    """Models that cannot explore on this panel, all for one reason."""

    why: str
    models: Sequence[LanguageModel]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """`too_small`: members for whom the prompt is too large, and so nobody would be asked at all."""

    shape: ChosenShape
    members: Sequence[LanguageModel]
    skipped: Sequence[SkippedSeat]
    explorer_seats: int
    queue: Sequence[Candidate]
    barred: Sequence[Barred]
    too_small: Sequence[LanguageModel]

    @property
    def next(self) -> Sequence[Candidate]:
        """Who sits, and who may."""
        return [one for one in self.queue if one.chance != "later"]


def outlook(collection: Collection, members: Sequence[LanguageModel], asked: Asked, roster: Roster) -> Outlook:
    """Seat a panel of these members. They, and the roster's models, know what is known of them: three queries."""
    table = Table(images=int(asked.images), tokens=asked.tokens, cool_down_of=roster.cool_down_of)
    seat_members(table, members, ())
    seats = roster.limits.explorers_beside(len(table.members))
    shape = shape_of(collection, asked, roster, seats)
    candidates = roster.may_explore(shape.roles)
    able = [model for model in candidates if not why_no_explorer(model, table)]
    return Outlook(
        shape=shape,
        members=list(table.members),
        skipped=list(table.skipped),
        explorer_seats=seats,
        queue=_queue(able, table, _counted(able, shape.name), seats) if seats else (),
        barred=_barred(table, shape, {model.pk for model in able}, roster) if seats else (),
        too_small=[model for model in table.members if not fits(asked.tokens, model)],
    )


def shape_of(collection: Collection, asked: Asked, roster: Roster, explorer_seats: int) -> ChosenShape:
    """The shape that a panel would have, or the one that is looked at instead."""
    if asked.shape in roster.shapes:
        return ChosenShape(asked.shape, "as chosen here", tuple(roster.shapes[asked.shape].roles))
    chosen = choose_shape(collection, int(asked.images), roster, explorer_seats)
    if not isinstance(chosen, ShapeQuestion):
        return chosen
    general = shape_of(collection, replace(asked, shape=GENERAL), roster, 0)
    return ChosenShape(
        GENERAL, f"{chosen.picker.alias} picks one of each request; this is who explores on {GENERAL}", general.roles
    )


def looked_at(roster: Roster) -> list[str]:
    """The shapes that can be looked at, as a list of choices has them."""
    return sorted(roster.shapes, key=lambda name: (name == VISION, name))


def _counted(models: Sequence[LanguageModel], shape: str) -> Counted:
    looked = staleness(shape, [model.pk for model in models])
    return Counted(looked.last_asked, looked.calls(looked.last_asked))


def _queue(able: Sequence[LanguageModel], table: Table, stale: Counted, seats: int) -> list[Candidate]:
    """Those who may explore, in their turn, and how surely each is next."""
    drawn = [_drawn(able, table, stale, seats) for _ in range(DRAWS)]
    always, ever = frozenset.intersection(*drawn), frozenset.union(*drawn)
    members = {line for model in table.members for line in model.families}
    return [_candidate(model, stale, always, ever, members, table) for model in sorted(able, key=stale.turn)]


def _drawn(able: Iterable[LanguageModel], table: Table, stale: Counted, seats: int) -> frozenset[int]:
    trial = replace(table, explorers=[], skipped=[], free_at=[])
    seat_explorers(trial, able, lambda _: stale, seats)
    return frozenset(model.pk for model in trial.explorers)


def _candidate(
    model: LanguageModel, stale: Counted, always: frozenset[int], ever: frozenset[int], members: set[str], table: Table
) -> Candidate:
    asked_at, calls = stale.last_asked.get(model.pk), stale.counts.get(model.pk, 0)
    shared = members & model.families
    if model.pk in always:
        chance, why = "sits", "never asked on this shape" if asked_at is None else "longest without being asked"
    elif model.pk in ever:
        chance, why = "by lot", "as long without being asked as others: drawn by lot"
    elif shared:
        theirs = ", ".join(other.alias for other in table.members if other.families & shared)
        chance, why = "later", f"of one family with {theirs}"
    else:
        chance, why = "later", "others have gone longer, or one of its family explores"
    return Candidate(model, asked_at, calls, chance, why)


def _barred(table: Table, shape: ChosenShape, able: set[int], roster: Roster) -> list[Barred]:
    """Everybody else on the bench, by why they cannot explore, the largest group first: one query."""
    known = {model.pk: model for model in roster.active}
    groups: dict[str, list[LanguageModel]] = {}
    for row in LanguageModel.objects.exclude(pk__in=able):
        model = known.get(row.pk, row)
        groups.setdefault(_why(model, table, shape), []).append(model)
    return [Barred(why, models) for why, models in sorted(groups.items(), key=lambda group: -len(group[1]))]


def _why(model: LanguageModel, table: Table, shape: ChosenShape) -> str:
    if any(model.pk == member.pk for member in table.members):
        return "sits as a member"
    if any(model.alias == seat.alias for seat in table.skipped):
        return "a member that is skipped"
    if model.status == LanguageModel.Status.ACTIVE and model.role not in shape.roles:
        return f"of another role than {shape.name} admits: {model.role}"
    return why_no_explorer(model, table) or "just changed: load this page again"
