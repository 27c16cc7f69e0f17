"""Taking a seat: how, of all who may hold its job, one asks its provider, and nobody twice.

A seat is taken by one conditional update of its row, before anything is sent. Whoever does not get it sends nothing.
"""

from collections.abc import Collection as Several
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Subquery

from evidence.models import Call, Panel, Process


@dataclass(frozen=True, slots=True)
class Stand:
    """How calls stand by their rows: those that ended, and the ids of those that run and that nobody has taken."""

    ended: tuple[Call, ...]
    untaken: frozenset[str]


def take_call(call_id: str, *, by: str, at: datetime) -> bool:
    """Take a call that runs and that nobody has taken; whether it is `by`'s now."""
    panel_id, _, seat_name = call_id.rpartition(".")
    # Every condition is one on the row itself: PostgreSQL looks at those again when it had to wait for another's update.
    # A join would become a subquery, at which it does not.
    panel = Subquery(Panel.objects.filter(panel_id=panel_id).values("pk")[:1])
    untaken = Call.objects.filter(panel_id=panel, seat_name=seat_name, status=Call.Status.RUNNING, sent_at=None)
    return untaken.update(held_by=by, sent_at=at) == 1


def is_left_behind(call_id: str) -> bool:
    """Whether a call runs that was taken by a process which is not there any more."""
    panel_id, _, seat_name = call_id.rpartition(".")
    running = Call.objects.filter(panel__panel_id=panel_id, seat_name=seat_name, status=Call.Status.RUNNING)
    taken = running.exclude(sent_at=None)
    return taken.exclude(held_by__in=Process.objects.values("name")).exists()


def has_workers() -> bool:
    """Whether a worker has said that it is there, and nobody has found it gone."""
    return Process.objects.filter(kind=Process.Kind.WORKER).exists()


def stand_of(call_ids: Several[str]) -> Stand:
    """How these calls stand. One query while they run."""
    panels = {call_id.rpartition(".")[0] for call_id in call_ids}
    calls = Call.objects.filter(panel__panel_id__in=panels).order_by()
    ended, untaken = [], []
    for pk, panel_id, seat_name, status, sent_at in calls.values_list(
        "pk", "panel__panel_id", "seat_name", "status", "sent_at"
    ):
        call_id = f"{panel_id}.{seat_name}"
        if call_id in call_ids and status != Call.Status.RUNNING:
            ended.append(pk)
        elif call_id in call_ids and sent_at is None:
            untaken.append(call_id)
    # Only now whole: of a panel's seats all but the last have been read long ago.
    rows = Call.objects.filter(pk__in=ended).select_related("panel") if ended else ()
    return Stand(tuple(rows), frozenset(untaken))
