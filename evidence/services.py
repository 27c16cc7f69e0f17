"""Writing down what came of it: panels and their seats when asked, answers when they end, verdicts when given.

Decides nothing and asks no model. Each function is one transaction.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.db import transaction

from evidence.models import Call, Panel


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSeat:
    """One seat as it is asked: its name in the panel and the model that sits."""

    seat_name: str
    language_model_id: int
    alias: str
    endpoint_name: str
    served_id: str
    nominated: bool = False


class EndedCall(Protocol):
    """How a call ended; gateway's SeatAnswer is one."""

    @property
    def call(self) -> str: ...


_ENDING = (
    "status",
    "error_kind",
    "error",
    "answer",
    "partial",
    "reasoning",
    "finish_reason",
    "served_model",
    "seconds",
    "first_token_seconds",
    "input_tokens",
    "output_tokens",
    "upstream_status",
)


@transaction.atomic
def record_panel(*, seats: Sequence[PlannedSeat], **panel: Any) -> Panel:
    """Write a panel and its seats down as running, before any id of theirs leaves the server."""
    row = Panel.objects.create(**{**panel, "request": _storable(panel["request"])})
    Call.objects.bulk_create(
        Call(
            panel=row,
            seat_name=seat.seat_name,
            nominated=seat.nominated,
            language_model_id=seat.language_model_id,
            alias=seat.alias,
            endpoint_name=seat.endpoint_name,
            served_id=seat.served_id,
            shape=row.shape,
            asked_at=row.asked_at,
        )
        for seat in seats
    )
    return row


@transaction.atomic
def record_calls(ended: Iterable[EndedCall]) -> None:
    """Write down how calls ended, many in one transaction: on SQLite a transaction a seat would serialise them.

    Only a running call is ended: whoever comes second (a late answer after an interruption) changes nothing.
    """
    for call in ended:
        panel_id, _, seat_name = call.call.rpartition(".")
        Call.objects.filter(panel__panel_id=panel_id, seat_name=seat_name, status=Call.Status.RUNNING).update(
            **{name: _storable(getattr(call, name)) for name in _ENDING}
        )


def record_call(ended: EndedCall) -> None:
    """Write down how one call ended."""
    record_calls([ended])


def interrupt_running(why: str) -> int:
    """End every call left running by a process that is gone; returns how many. What had finished is kept."""
    return Call.objects.filter(status=Call.Status.RUNNING).update(
        status=Call.Status.ERROR, error_kind="interrupted", error=why, seconds=None
    )


def _storable(value: Any) -> Any:
    """PostgreSQL stores no NUL in text, and models do send them."""
    return value.replace("\x00", "\ufffd") if isinstance(value, str) else value


