"""A seated panel as rows and as jobs: what is written down before any seat is asked, and what each worker is told."""

import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import IntegrityError
from django.utils import timezone

from collections_app.models import Collection
from evidence.models import Panel
from evidence.services import PlannedSeat, record_panel
from gateway.chat import ChatRequest
from gateway.conf import conf
from gateway.panel.seating import Seat, Table
from gateway.panel.shape import ChosenShape
from gateway.redact import hide_images
from gateway.upstream.contract import Target
from gateway.workers.seat import SeatJob
from keys.services import Caller

# 65,536 ids a second: at 300 panels a second one in 200 draws an id that is taken, and draws again.
_DRAWS = 20


def write_down(chat: ChatRequest, caller: Caller, collection: Collection, shape: ChosenShape, table: Table) -> Panel:
    """Record the panel and its seats as running, under an id of its own."""
    now = timezone.now()
    seats = [_planned(seat) for seat in table.seats()]
    for _ in range(_DRAWS):
        try:
            return record_panel(
                seats=seats,
                panel_id=_draw_id(now),
                asked_at=now,
                asked_by=caller.name,
                format=chat.format,
                collection=collection,
                collection_name=collection.asked_as,
                shape=shape.name,
                shape_by=shape.by,
                reply=chat.bench.reply or collection.reply,
                request=hide_images(chat.text),
                prompt_tokens=table.tokens,
                skipped=[seat.as_bench() for seat in table.skipped],
                ignored=list(chat.ignored),
            )
        except IntegrityError as taken:
            error = taken
    raise error


def seat_jobs(panel_id: str, seats: Sequence[Seat], chat: ChatRequest) -> Iterator[SeatJob]:
    for seat in seats:
        yield SeatJob(
            call=f"{panel_id}.{seat.name}",
            alias=seat.model.alias,
            nominated=seat.nominated,
            target=_target(seat),
            messages=chat.messages,
        )


def _draw_id(now: datetime) -> str:
    return f"p{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _planned(seat: Seat) -> PlannedSeat:
    return PlannedSeat(
        seat_name=seat.name,
        language_model_id=seat.model.pk,
        alias=seat.model.alias,
        endpoint_name=seat.model.endpoint.name,
        served_id=seat.model.served_id,
        nominated=seat.nominated,
    )


def _target(seat: Seat) -> Target:
    """Whom to ask. A model's own time-outs come before its endpoint's, and those before the site's."""
    model, endpoint = seat.model, seat.model.endpoint
    return Target(
        protocol=endpoint.protocol,
        base_url=endpoint.base_url,
        model=model.served_id,
        api_key_env=endpoint.api_key_env,
        options=model.options,
        connect_timeout=model.connect_timeout or endpoint.connect_timeout or conf.connect_timeout,
        first_token_timeout=model.first_token_timeout or endpoint.first_token_timeout or conf.first_token_timeout,
        seat_timeout=model.seat_timeout or endpoint.seat_timeout or conf.seat_timeout,
    )
