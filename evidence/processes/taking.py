"""Taking a seat: how, of all who may hold its job, one asks its provider, and nobody twice.

A seat is taken by one conditional update of its row, before anything is sent. Whoever does not get it sends nothing.
"""

from collections.abc import Collection as Several
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from evidence.counting.endings import CALLS
from evidence.models import Call, Panel, Process


@dataclass(frozen=True, slots=True)
class Stand:
    """How calls stand by their rows: those that ended, and the ids of those that run and that nobody has taken."""

    ended: tuple[Call, ...]
    untaken: frozenset[str]


# Every condition is one on the row itself: PostgreSQL looks at those again when it had to wait for another's update. Of a
# join it would make a subquery, at which it does not.
_TAKE = (
    f"UPDATE {CALLS} SET held_by = %s, sent_at = %s "  # noqa: S608 (names of ours)
    f"WHERE panel_id = (SELECT id FROM {Panel._meta.db_table} WHERE panel_id = %s) AND seat_name = %s "
    "AND status = %s AND sent_at IS NULL"
)


@transaction.atomic
def take_calls(call_ids: Iterable[str], *, by: str, at: datetime) -> list[bool]:
    """Take those of these calls that run and that nobody has taken, in one transaction; for each, whether it is `by`'s now."""
    moment, taken = connection.ops.adapt_datetimefield_value(at), []
    with connection.cursor() as cursor:
        for call_id in call_ids:
            panel_id, _, seat_name = call_id.rpartition(".")
            cursor.execute(_TAKE, (by, moment, panel_id, seat_name, Call.Status.RUNNING))
            taken.append(cursor.rowcount == 1)
    return taken


def take_call(call_id: str, *, by: str, at: datetime) -> bool:
    """Take one."""
    return take_calls([call_id], by=by, at=at) == [True]


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
