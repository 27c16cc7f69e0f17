"""A panel from request to running seats: the one function that tells the story.

Seats, records and asks; what comes back is running.py's.
"""

import asyncio
from functools import partial

from collections_app.models import Collection
from collections_app.selectors import all_collections, collection_asked_for, current_limits, may_explore, members_of
from evidence.selectors import staleness
from gateway.panel.merge import MergerChoice, merge
from gateway.panel.naming import AskedName, named_merger, nominated_models, not_found, read_model_name
from gateway.panel.record import seat_jobs, write_down
from gateway.panel.request import Request
from gateway.panel.running import PanelRun, running_panels
from gateway.panel.seating import Table, nobody_seated, seat_explorers, seat_members, seat_nominated
from gateway.panel.shape import ChosenShape, choose_shape
from gateway.panel.size import estimate, refuse_if_too_large
from gateway.workers import worker_pool
from gateway.workers.ledger import ledger


async def open_panel(request: Request) -> PanelRun:
    """Seat a panel and ask its seats. Raises a Refusal when it cannot be."""
    # Shielded: a caller who leaves while the panel is being seated leaves a panel that runs all the same.
    return await asyncio.shield(asyncio.ensure_future(_open_and_follow(request)))


async def _open_and_follow(request: Request) -> PanelRun:
    run = await asyncio.wrap_future(ledger().run(partial(_open, request)))
    running_panels().follow(run)
    return run


def _open(request: Request) -> PanelRun:
    chat = request.chat
    asked, collection = _collection(chat.model)
    table = Table(images=chat.images, tokens=estimate(chat.messages))
    limits = current_limits()
    nominated = nominated_models(chat.bench.nominated)
    merger = named_merger(chat.bench.merger)
    seat_members(table, members_of(collection), nominated)
    seat_nominated(table, nominated, limits.explorers_beside)
    refuse_if_too_large(table.tokens, table.members)
    shape = choose_shape(collection, table.images)
    _seat_explorers(table, shape, limits.explorers_beside(len(table.members)))
    if not table.seated:
        raise nobody_seated(table)
    pool = worker_pool()
    pool.admit(len(table.seated))
    reply = chat.bench.reply or asked.reply or collection.reply
    panel = write_down(request, collection, shape, table, reply)
    seats = table.seats()
    choice = MergerChoice(named=merger, collection=collection, members=table.members, shape=shape.name)
    answers = tuple(pool.submit(job) for job in seat_jobs(panel.id, seats, chat))
    return PanelRun(panel, seats, answers, partial(merge, chat, choice, panel.id) if reply == "merged" else None)


async def check_collection(model: str) -> None:
    """Raise a Refusal unless a model name asks for a collection."""
    await asyncio.wrap_future(ledger().run(partial(_collection, model)))


def _collection(model: str) -> tuple[AskedName, Collection]:
    asked = read_model_name(model)
    collection = collection_asked_for(asked.name) if asked else None
    if asked is None or collection is None:
        raise not_found(model, all_collections())
    return asked, collection


def _seat_explorers(table: Table, shape: ChosenShape, seats: int) -> None:
    if seats > len(table.nominated):
        candidates = may_explore(shape.roles)
        seat_explorers(table, candidates, staleness(shape.name, [model.pk for model in candidates]), seats)
