"""A panel from request to running seats: the one function that tells the story.

Seats, records and asks; what comes back is running.py's.
"""

import asyncio
from functools import partial

from collections_app.roster import Roster, roster_keeper
from collections_app.selectors import members_of
from evidence.selectors import staleness
from gateway.panel.merge import MergerChoice, merge
from gateway.panel.naming import collection_for, named_merger, nominated_models
from gateway.panel.record import seat_jobs, write_down
from gateway.panel.recorded import RecordedRun
from gateway.panel.request import Request, earlier_panel
from gateway.panel.running import PanelRun, running_panels
from gateway.panel.seating import Table, nobody_seated, seat_explorers, seat_members, seat_nominated
from gateway.panel.shape import ChosenShape, choose_shape
from gateway.panel.size import refuse_if_too_large
from gateway.workers import worker_pool
from gateway.workers.ledger import ledger
from keys.services import Caller
from keys.throttling import count_request


async def open_panel(request: Request) -> PanelRun | RecordedRun:
    """Seat a panel and ask its seats, or join the one that the same request opened. Raises a Refusal when it cannot be."""
    # Shielded: a caller who leaves while the panel is being seated leaves a panel that runs all the same.
    return await asyncio.shield(asyncio.ensure_future(_join_or_open(request)))


async def _join_or_open(request: Request) -> PanelRun | RecordedRun:
    if request.is_retry and (running := running_panels().asked(request)):
        return running
    if request.is_large:
        await asyncio.to_thread(lambda: (request.tokens, request.logged))
    opened = await asyncio.wrap_future(ledger().run(partial(_earlier_or_new, request)))
    if isinstance(opened, PanelRun):
        running_panels().follow(opened)
        return opened
    return running_panels().get(opened) or RecordedRun(request, opened)


def _earlier_or_new(request: Request) -> str | PanelRun:
    # An earlier panel, too, is only for who may ask its collection now.
    collection_for(request.caller, request.chat.model, roster_keeper().current())
    return earlier_panel(request) or _open(request)


def _open(request: Request) -> PanelRun:
    chat = request.chat
    roster = roster_keeper().current()
    asked, collection = collection_for(request.caller, chat.model, roster)
    count_request(request.caller)
    table = Table(images=chat.images, tokens=request.tokens, cool_down_of=roster.cool_down_of)
    nominated = nominated_models(chat.bench.nominated, request.caller, roster)
    merger = named_merger(chat.bench.merger, request.caller, roster)
    seat_members(table, members_of(collection), nominated)
    seat_nominated(table, nominated, roster.limits.explorers_beside)
    refuse_if_too_large(table.tokens, table.members)
    shape = choose_shape(collection, table.images, roster)
    _seat_explorers(table, shape, roster, roster.limits.explorers_beside(len(table.members)))
    if not table.seated:
        raise nobody_seated(table)
    pool = worker_pool()
    pool.admit(len(table.seated))
    reply = chat.bench.reply or asked.reply or collection.reply
    panel = write_down(request, collection, shape, table, reply)
    seats = table.seats()
    choice = MergerChoice(named=merger, collection=collection, members=table.members, shape=shape.name)
    answers = tuple(pool.submit(job) for job in seat_jobs(panel.id, seats, chat))
    merging = partial(merge, chat, choice, panel.id) if reply == "merged" else None
    return PanelRun(panel, request, seats=seats, answers=answers, merge=merging)


async def check_collection(caller: Caller, model: str) -> None:
    """Raise a Refusal unless a model name asks for a collection that the caller may ask."""
    await asyncio.wrap_future(ledger().run(lambda: collection_for(caller, model, roster_keeper().current())))


def _seat_explorers(table: Table, shape: ChosenShape, roster: Roster, seats: int) -> None:
    if seats > len(table.nominated):
        candidates = roster.may_explore(shape.roles)
        seat_explorers(table, candidates, staleness(shape.name, [model.pk for model in candidates]), seats)
