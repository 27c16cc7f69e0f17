"""Who sits: a collection's members, then whom the caller nominated, then explorers by staleness.

Chooses and explains; asks no model and writes nothing down.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from collections_app.models import CoolDown, LanguageModel
from gateway.errors import BadRequest, Refusal, Unavailable
from gateway.panel.size import fits
from gateway.reply import SkippedSeat

# When a model was last asked on the panel's shape, and how often; None: never.
Staleness = Mapping[int, tuple[datetime | None, int]]

NOBODY_WAIT_SECONDS = 60
_STATUS: dict[str, str] = {
    LanguageModel.Status.AD_HOC: "ad hoc: sits when named, never explores",
    LanguageModel.Status.RETIRING: "retiring: never explores",
    LanguageModel.Status.RETIRED: "retired: never called",
}


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


def seat_explorers(table: Table, candidates: Iterable[LanguageModel], staleness: Staleness, seats: int) -> None:
    """Fill the seats left with the stalest models that bring another opinion: no family line sits twice."""
    lines = {line for model in table.seated for line in model.families}
    for model in sorted(candidates, key=lambda model: _stalest_first(model, staleness)):
        if len(table.nominated) + len(table.explorers) >= seats:
            return
        if not why_no_explorer(model, table) and lines.isdisjoint(model.families):
            table.explorers.append(model)
            lines |= model.families


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


def turn(model: LanguageModel, staleness: Staleness) -> tuple[bool, float, int]:
    """Whose turn it is to explore: the lowest first, and by lot among equals."""
    asked_at, calls = staleness.get(model.pk, (None, 0))
    return asked_at is not None, asked_at.timestamp() if asked_at else 0.0, calls


def _stalest_first(model: LanguageModel, staleness: Staleness) -> tuple[bool, float, int, float]:
    return *turn(model, staleness), random.random()  # noqa: S311 (a tie, no secret)


def _same(model: LanguageModel, other: LanguageModel) -> bool:
    return model.pk == other.pk or (model.endpoint_id == other.endpoint_id and model.served_id == other.served_id)
