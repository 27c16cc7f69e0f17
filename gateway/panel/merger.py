"""Who merges: whom the request names, else the collection's merger, else by evidence, else the bench's primary model, else
the first member; of those the first whose window takes the merge.

Chooses and writes the merger's row; asks no model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils import timezone

from collections_app.models import Collection, LanguageModel
from evidence.selectors import useful_verdicts
from evidence.services import record_seat
from gateway.chat import Message
from gateway.panel.record import planned, target_of
from gateway.panel.seating import Seat
from gateway.panel.size import estimate, fits
from gateway.workers.seat import SeatJob

SEAT_NAME = "merger"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergerChoice:
    """What the choice is made from. `named` is the request's own merger."""

    named: LanguageModel | None
    collection: Collection
    members: Sequence[LanguageModel]
    shape: str


def seat_merger(choice: MergerChoice, panel_id: str, messages: tuple[Message, ...]) -> SeatJob | None:
    """Choose who merges, write the call down as running, and return the job; None when nobody's window takes it."""
    tokens = estimate(messages)
    for model in _in_order(choice):
        if model.status != LanguageModel.Status.RETIRED and fits(tokens, model):
            seat = Seat(SEAT_NAME, model)
            record_seat(planned(seat), panel_id=panel_id, asked_at=timezone.now())
            return SeatJob(call=f"{panel_id}.{SEAT_NAME}", alias=model.alias, target=target_of(model), messages=messages)
    return None


def _in_order(choice: MergerChoice) -> Iterator[LanguageModel]:
    if choice.named:
        yield choice.named
    if choice.collection.merger:
        yield choice.collection.merger
    yield from _by_evidence(choice.members, choice.shape)
    yield from choice.members


def _by_evidence(members: Sequence[LanguageModel], shape: str) -> list[LanguageModel]:
    """The members with a useful verdict on this shape: most of them first, then the larger share."""
    counts = useful_verdicts(shape, [model.pk for model in members])
    judged = [model for model in members if counts.get(model.pk, (0, 0))[0]]

    def weight(model: LanguageModel) -> tuple[int, float]:
        useful, all_judged = counts[model.pk]
        return -useful, -useful / all_judged

    return sorted(judged, key=weight)
