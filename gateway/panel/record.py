"""A seated panel as rows and as jobs: what is written down before any seat is asked, and what each worker is told."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from django.db import IntegrityError
from django.utils import timezone

from collections_app.models import Collection
from collections_app.roster import Roster
from evidence.errors import PanelIdTaken
from evidence.processes.here import this_process
from evidence.services import PlannedSeat, record_panel
from gateway.chat import ChatRequest, ReplyMode
from gateway.errors import Unavailable
from gateway.panel.request import Request
from gateway.panel.seating import Seat, Table
from gateway.panel.shape import ChosenShape
from gateway.reply import AskedPanel
from gateway.workers import worker_pool
from gateway.workers.job import SeatJob, job_for

# 65,536 ids a second: at 300 panels a second one in 200 draws an id that is taken, and draws again.
_DRAWS = 20


def write_down(request: Request, collection: Collection, shape: ChosenShape, table: Table, reply: str) -> AskedPanel:
    """Record the panel and its seats as running, under an id of its own."""
    now = timezone.now()
    seats = table.seats()
    asked = AskedPanel(
        id=_draw_id(now),
        model=request.chat.model,
        collection=collection.asked_as,
        shape=shape.name,
        shape_by=shape.by,
        reply=cast(ReplyMode, reply),
        members=len(table.members),
        explorers=len(seats) - len(table.members),
        skipped=tuple(table.skipped),
        ignored=request.chat.ignored,
        notice=_notice(seats),
        prompt_tokens=table.tokens,
        created=now.timestamp(),
        verdict_url=f"{request.base_url}/bench/verdict",
        links_url=request.base_url if collection.verdict_links else "",
        field=request.field,
    )
    for _ in range(_DRAWS):
        try:
            _record(asked, request, collection, seats, now)
        except PanelIdTaken:
            asked = replace(asked, id=_draw_id(now))
        except IntegrityError as error:
            # A row that the panel names was deleted since the roster was read.
            raise Unavailable("The bench changed while this panel was being seated. Ask again.", wait=1) from error
        else:
            return asked
    raise Unavailable("No panel id was free. Ask again.", wait=1)


def _record(asked: AskedPanel, request: Request, collection: Collection, seats: Sequence[Seat], now: datetime) -> None:
    held_by = holder()
    record_panel(
        seats=[planned(seat, held_by=held_by) for seat in seats],
        panel_id=asked.id,
        asked_at=now,
        asked_by=request.caller.name,
        format=request.chat.format,
        collection_id=collection.pk,
        collection_name=asked.collection,
        shape=asked.shape,
        shape_by=asked.shape_by,
        reply=asked.reply,
        notice=asked.notice,
        request=request.logged,
        prompt_tokens=asked.prompt_tokens,
        skipped=[seat.as_bench() for seat in asked.skipped],
        ignored=list(asked.ignored),
        known_as=request.known_as,
        held_by=this_process().name,
    )


def _notice(seats: Sequence[Seat]) -> str:
    """What a caller should know before trusting that seats agree."""
    shared = frozenset.intersection(*(seat.model.families for seat in seats))
    if len(seats) < 2 or not shared:
        return ""
    return (
        f"Every seat is of one family ({', '.join(sorted(shared))}): settings of one model are for trying the bench, "
        "not a second opinion."
    )


def seat_jobs(panel: AskedPanel, seats: Sequence[Seat], chat: ChatRequest, roster: Roster) -> Iterator[SeatJob]:
    for seat in seats:
        yield job_for(
            seat.model,
            roster.quotas_of(seat.model),
            call=f"{panel.id}.{seat.name}",
            messages=chat.messages,
            tokens=panel.prompt_tokens,
            nominated=seat.nominated,
        )


def _draw_id(now: datetime) -> str:
    # No secret: any number would do, and the system's own takes the interpreter away.
    return f"p{now:%Y%m%d-%H%M%S}-{random.getrandbits(16):04x}"


def holder() -> str:
    """Whom a seat's row names as asking it: this process, unless workers take seats; nobody where the bench has one process."""
    return this_process().name if worker_pool().asks_here else ""


def planned(seat: Seat, held_by: str = "") -> PlannedSeat:
    """A seat as the call log writes it down."""
    return PlannedSeat(
        seat_name=seat.name,
        language_model_id=seat.model.pk,
        alias=seat.model.alias,
        endpoint_name=seat.model.endpoint.name,
        served_id=seat.model.served_id,
        nominated=seat.nominated,
        held_by=held_by,
    )
