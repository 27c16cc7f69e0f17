"""Who sits: a collection's members, then whom the caller nominated, then explorers by staleness.

Chooses and explains; asks no model and writes nothing down.
"""

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Protocol

from django.utils import timezone

from collections_app.models import CoolDown, LanguageModel
from gateway.errors import BadRequest, Refusal, Unavailable
from gateway.panel.size import fits
from gateway.reply import SkippedSeat

NOBODY_WAIT_SECONDS = 60
NEVER = float("-inf")
_STATUS: dict[str, str] = {
    LanguageModel.Status.AD_HOC: "ad hoc: sits when named, never explores",
    LanguageModel.Status.RETIRING: "retiring: never explores",
    LanguageModel.Status.RETIRED: "retired: never called",
}


class Staleness(Protocol):
    """When models were last asked on the panel's shape, None or no entry: never; and how often, of those that matter."""

    @property
    def last_asked(self) -> Mapping[int, datetime | None]: ...

    def calls(self, language_model_ids: Collection[int], /) -> Mapping[int, int]: ...


Look = Callable[[Collection[int]], Staleness]


@dataclass(frozen=True, slots=True)
class Seat:
    """One model's place in a panel: member1, explorer2."""

    name: str
    model: LanguageModel
    nominated: bool = False


@dataclass(slots=True)
class Table:
    """Seats as they fill, in seat order, and who was passed over; `free_at`: when those who only rest may sit again."""

    images: int
    tokens: int
    cool_down_of: Callable[[LanguageModel], CoolDown | None] = lambda _: None
    members: list[LanguageModel] = field(default_factory=list)
    nominated: list[LanguageModel] = field(default_factory=list)
    explorers: list[LanguageModel] = field(default_factory=list)
    skipped: list[SkippedSeat] = field(default_factory=list)
    free_at: list[datetime] = field(default_factory=list)

    @property
    def seated(self) -> list[LanguageModel]:
        return [*self.members, *self.nominated, *self.explorers]

    def seats(self) -> tuple[Seat, ...]:
        members = [Seat(f"member{number}", model) for number, model in enumerate(self.members, 1)]
        explorers = [
            Seat(f"explorer{number}", model, nominated=number <= len(self.nominated))
            for number, model in enumerate([*self.nominated, *self.explorers], 1)
        ]
        return (*members, *explorers)

    def has(self, model: LanguageModel) -> bool:
        """Whether this model sits already, under this alias or another of the same endpoint and served id."""
        return self.twin_of(model) is not None

    def twin_of(self, model: LanguageModel) -> LanguageModel | None:
        """The model that sits already for this one."""
        return next((other for other in self.seated if _same(model, other)), None)


def seat_members(table: Table, members: Iterable[LanguageModel], nominated: Sequence[LanguageModel]) -> None:
    """Seat a collection's members in their order. One that the caller names sits whatever its role."""
    for model in members:
        named = any(_same(model, other) for other in nominated)
        why = _why_not(model, table) or _wrong_work(model, table, named) or _sits_already(model, table)
        if why:
            table.skipped.append(SkippedSeat("member", model.alias, why))
        else:
            table.members.append(model)


def seat_nominated(table: Table, nominated: Iterable[LanguageModel], explorer_seats: Callable[[int], int]) -> None:
    """Seat whom the caller named, on explorer seats. Raises BadRequest when there are more than seats."""
    passed_over = {seat.alias for seat in table.skipped}
    for model in nominated:
        if model in table.members or model.alias in passed_over:
            continue
        why = _why_not(model, table) or _sits_already(model, table)
        if not why and not fits(table.tokens, model):
            window = model.known.get("context_window")
            why = f"its context window of {window:,} tokens is smaller than the prompt of about {table.tokens:,}"
        if why:
            table.skipped.append(SkippedSeat("explorer", model.alias, why))
        else:
            table.nominated.append(model)
    seats = explorer_seats(len(table.members))
    if len(table.nominated) > seats:
        named = ", ".join(model.alias for model in table.nominated)
        raise BadRequest(
            f"with names {len(table.nominated)} models beyond the members ({named}), "
            f"and this panel of {len(table.members)} members has {seats} explorer seats. Name at most {seats}.",
            param="with",
        )


def seat_explorers(table: Table, candidates: Iterable[LanguageModel], look: Look, seats: int) -> None:
    """Fill the seats left with the stalest models that bring another opinion: no family line sits twice."""
    left = seats - len(table.nominated) - len(table.explorers)
    if left <= 0:
        return
    lines = {line for model in table.seated for line in model.families}
    # Who cannot sit is not looked for: a model that merges and never explores may have no end of merges to be passed over.
    able = [model for model in candidates if lines.isdisjoint(model.families) and not why_no_explorer(model, table)]
    for model in _in_turn(able, look, lines):
        if not table.has(model) and lines.isdisjoint(model.families):
            table.explorers.append(model)
            lines |= model.families
            left -= 1
            if not left:
                return


def why_no_explorer(model: LanguageModel, table: Table) -> str:
    """Why a model of a role that the shape admits cannot explore on this panel, families and turns apart; or nothing."""
    if model.status != LanguageModel.Status.ACTIVE:
        return _STATUS.get(model.status, model.status)
    if not model.families:
        return "a router: it may answer with a member"
    if table.images and model.known.get("vision") is not True:
        return "not known to take images"
    if not fits(table.tokens, model):
        return "its context window is too small for the prompt"
    if table.has(model):
        return "sits already"
    return "cooling down" if table.cool_down_of(model) else ""


def nobody_seated(table: Table) -> Refusal:
    """The refusal of a panel without a seat: 400 when images are why, else 503 with the reasons."""
    reasons = "; ".join(f"{seat.alias}: {seat.why}" for seat in table.skipped) or "the collection has no members"
    if table.images:
        return BadRequest(
            f"No seat of this collection can see, and an image is never answered blind ({reasons}). "
            "Ask a collection whose members take images, or mark a model's Vision on its page if it does.",
            param="messages",
        )
    return Unavailable(f"Nobody can sit on this panel now ({reasons}).", wait=_wait(table))


def _wait(table: Table) -> float:
    """Seconds until somebody who was skipped may sit again, where that is known."""
    if not table.free_at:
        return NOBODY_WAIT_SECONDS
    return max((min(table.free_at) - timezone.now()).total_seconds(), 1.0)


def _why_not(model: LanguageModel, table: Table) -> str:
    """Why a member or a nominated model cannot sit, or nothing."""
    if model.status == LanguageModel.Status.RETIRED:
        return "retired"
    sees = model.known.get("vision")
    if table.images and sees is not True:
        return "does not take images" if sees is False else "not known to take images (set Vision on its page if it does)"
    rest = table.cool_down_of(model)
    if rest:
        table.free_at.append(rest.until)
        return f"cooling down until {rest.until:%Y-%m-%d %H:%M:%S} UTC: {rest.why}"
    return ""


def _wrong_work(model: LanguageModel, table: Table, named: bool) -> str:
    if model.role == LanguageModel.Role.VISION and not table.images and not named:
        return "sees images, and the request has none"
    return ""


def _sits_already(model: LanguageModel, table: Table) -> str:
    twin = table.twin_of(model)
    return f"the same model as {twin.alias}, which sits" if twin else ""


def _in_turn(models: Sequence[LanguageModel], look: Look, lines: Set[str]) -> Iterator[LanguageModel]:
    """The stalest first. Calls are counted of those alone that were last asked at one time, and only once it is their turn.

    `lines`: families that sit by then, none of which is given a turn again.
    """
    if not models:
        return
    staleness = look([model.pk for model in models])

    def last_asked(model: LanguageModel) -> float:
        asked_at = staleness.last_asked.get(model.pk)
        return asked_at.timestamp() if asked_at else NEVER

    for asked_at, group in groupby(sorted(models, key=last_asked), last_asked):
        tied = [model for model in group if lines.isdisjoint(model.families)]
        random.shuffle(tied)
        if len(tied) > 1 and asked_at != NEVER:
            calls = staleness.calls([model.pk for model in tied])
            tied.sort(key=lambda model: calls.get(model.pk, 0))
        yield from tied


def _same(model: LanguageModel, other: LanguageModel) -> bool:
    return model.pk == other.pk or (model.endpoint_id == other.endpoint_id and model.served_id == other.served_id)
