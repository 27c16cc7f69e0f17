"""A panel from request to running seats: the one function that tells the story, with a pause in it for the shape.

Seats, records and asks; what comes back is running.py's. Where a decision model picks the shape, that is waited for
between two turns in the ledger's thread: nobody has been asked yet, and no id has left.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from collections_app.models import Collection, LanguageModel
from collections_app.roster import Roster, roster_keeper
from collections_app.selectors import members_of
from evidence.again import AlreadyAsked
from evidence.selectors import staleness
from gateway.panel.elsewhere.awaited import awaited_seats
from gateway.panel.merge import MergerChoice, merge
from gateway.panel.naming import collection_for, named_merger, nominated_models
from gateway.panel.record import seat_jobs, write_down
from gateway.panel.recorded import RecordedRun
from gateway.panel.request import Request, earlier_panel, joined
from gateway.panel.running import PanelRun, running_panels
from gateway.panel.seating import Seat, Table, nobody_seated, seat_explorers, seat_members, seat_nominated
from gateway.panel.shape import LONGEST_TEXT, ChosenShape, ShapeQuestion, choose_shape, text_to_shape
from gateway.panel.size import refuse_if_too_large
from gateway.reply import AskedPanel
from gateway.telemetry.spans import panel_span, traceparent_of
from gateway.upstream.contract import UpstreamError
from gateway.workers import Kept, room
from gateway.workers.deciding import follow_pick, in_the_way, pick
from gateway.workers.ledger import Turn, ledger
from keys.services import Caller

Opened = TypeVar("Opened")


async def open_panel(request: Request) -> PanelRun | RecordedRun:
    """Seat a panel and ask its seats, or join the one that the same request opened. Raises a Refusal when it cannot be."""
    # Shielded: a caller who leaves while the panel is being seated leaves a panel that runs all the same.
    return await asyncio.shield(asyncio.ensure_future(_join_or_open(request)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A panel whose members and nominated models sit. Its explorers wait for its shape, and nobody has been asked."""

    request: Request
    roster: Roster
    collection: Collection
    table: Table
    reply: str
    merger: LanguageModel | None
    explorer_seats: int
    shape: ChosenShape | ShapeQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    """A panel that is written down, and whose seats are to be asked once that is committed."""

    opening: Opening
    shape: ChosenShape
    panel: AskedPanel
    seats: Sequence[Seat]


async def _join_or_open(request: Request) -> PanelRun | RecordedRun:
    if running := _running(request):
        return running
    if request.is_large:
        await asyncio.to_thread(request.prepare)
    with room().for_a_panel() as kept:
        ask_seats = partial(_ask_seats, kept)
        opened = await asyncio.wrap_future(ledger().run_together(partial(_earlier_or_new, request, kept), ask_seats))
        if isinstance(opened, Opening):
            shape, failure = await _picked(opened)
            # What takes seconds is done, and the same request may have come again meanwhile.
            if running := _running(request):
                return running
            shaped = partial(_earlier_or_shaped, opened, shape, failure, kept)
            opened = await asyncio.wrap_future(ledger().run_together(shaped, ask_seats))
    if isinstance(opened, PanelRun):
        running_panels().follow(opened)
        return opened
    return running_panels().get(opened) or RecordedRun(request, opened)


def _running(request: Request) -> PanelRun | None:
    return running_panels().asked(request) if request.is_retry else None


def _earlier_or_new(request: Request, kept: Kept, turn: Turn) -> str | Seated | Opening:
    # An earlier panel, too, is only for who may ask its collection now.
    roster = turn.once(roster_keeper().current)
    collection_for(request.caller, request.chat.model, roster)
    return _unless_asked(request, partial(_open, request, roster, kept))


def _open(request: Request, roster: Roster, kept: Kept) -> Seated | Opening:
    """Seat members and whom the caller named; then, if the shape is known without asking for it, the rest."""
    chat = request.chat
    asked, collection = collection_for(request.caller, chat.model, roster)
    request.count()
    table = Table(images=chat.images, tokens=request.tokens, cool_down_of=roster.cool_down_of)
    nominated = nominated_models(chat.bench.nominated, request.caller, roster)
    merger = named_merger(chat.bench.merger, request.caller, roster)
    seat_members(table, members_of(collection), nominated)
    seat_nominated(table, nominated, roster.limits.explorers_beside)
    refuse_if_too_large(table.tokens, table.members)
    explorer_seats = roster.limits.explorers_beside(len(table.members))
    opening = Opening(
        request=request,
        roster=roster,
        collection=collection,
        table=table,
        reply=chat.bench.reply or asked.reply or collection.reply,
        merger=merger,
        explorer_seats=explorer_seats,
        shape=_shape_or_question(collection, table, roster, explorer_seats),
    )
    return opening if isinstance(opening.shape, ShapeQuestion) else _seat(opening, opening.shape, kept)


def _shape_or_question(
    collection: Collection, table: Table, roster: Roster, explorer_seats: int
) -> ChosenShape | ShapeQuestion:
    """The shape, or who picks it: counted by now for what that takes of an account's limits."""
    shape = choose_shape(collection, table.images, roster, explorer_seats - len(table.nominated))
    if not isinstance(shape, ShapeQuestion):
        return shape
    why = in_the_way(shape.picker, roster.account, min(table.tokens, LONGEST_TEXT))
    return shape.not_asked(why) if why else shape


async def _picked(opening: Opening) -> tuple[ChosenShape, UpstreamError | None]:
    """The shape that a decision model picks, in a thread of its own; or general, and how the pick failed."""
    question = opening.shape
    assert isinstance(question, ShapeQuestion)
    try:
        decision = await pick(question.picker, partial(text_to_shape, opening.request.chat), question.options)
    except UpstreamError as error:
        return question.failed(error), error
    return question.answered(decision), None


def _earlier_or_shaped(
    opening: Opening, shape: ChosenShape, failure: UpstreamError | None, kept: Kept, _: Turn
) -> str | Seated:
    if isinstance(opening.shape, ShapeQuestion):
        follow_pick(opening.shape.picker, failure, opening.roster)
    return _unless_asked(opening.request, partial(_seat, opening, shape, kept))


def _unless_asked(request: Request, open_it: Callable[[], Opened]) -> str | Opened:
    """Open a panel, unless the same request has one, or is given one by another process in this moment."""
    while True:
        try:
            return earlier_panel(request) or open_it()
        except AlreadyAsked as already:
            if panel_id := joined(request, already):
                return panel_id


def _seat(opening: Opening, shape: ChosenShape, kept: Kept) -> Seated:
    """Seat explorers, and write the panel down."""
    request, table = opening.request, opening.table
    if opening.explorer_seats > len(table.nominated):
        candidates = opening.roster.may_explore(shape.roles)
        seat_explorers(table, candidates, partial(staleness, shape.name), opening.explorer_seats)
    if not table.seated:
        raise nobody_seated(table)
    seats = table.seats()
    kept.keep(len(seats))
    panel = write_down(request, opening.collection, shape, table, opening.reply)
    return Seated(opening=opening, shape=shape, panel=panel, seats=seats)


def _ask_seats(kept: Kept, opened: Opened | Seated) -> Opened | PanelRun:
    """Ask the seats of a panel that is written down by now."""
    if not isinstance(opened, Seated):
        return opened
    opening, panel, seats = opened.opening, opened.panel, opened.seats
    request = opening.request
    span = panel_span(request.trace, request.asked_at, panel)
    below = traceparent_of(span)
    jobs = [job.below(below) for job in seat_jobs(panel, seats, request.chat, opening.roster)]
    answers = kept.take(lambda: tuple(awaited_seats().ask(job) for job in jobs))
    choice = MergerChoice(
        named=opening.merger, collection=opening.collection, members=opening.table.members, shape=opened.shape.name
    )
    merging = partial(merge, request.chat, choice, panel.id, traceparent=below) if opening.reply == "merged" else None
    return PanelRun(panel, request, seats=seats, answers=answers, merge=merging, span=span)


async def check_collection(caller: Caller, model: str) -> None:
    """Raise a Refusal unless a model name asks for a collection that the caller may ask."""
    await asyncio.wrap_future(ledger().run(lambda: collection_for(caller, model, roster_keeper().current())))
