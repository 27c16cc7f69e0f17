"""Ending calls that no process asks any more: as errors that say so, and their panels' readers are told the end.

Only running rows are ended. What had finished is kept, and so is an answer that comes after all (late.py).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from evidence.counting.endings import CALLS, ENDED_AS
from evidence.counting.tallies import Calls, count
from evidence.counting.turns import hold_panels
from evidence.models import Call, Panel
from evidence.services import parts

# Far longer than any: so that looking for a process's panels reads a day's of them, not the log.
LONGEST_PANEL = timedelta(days=1)
# Held as it was read: what a worker has taken meanwhile is that worker's.
INTERRUPT_CALL = (
    f"UPDATE {CALLS} SET status = %s, error_kind = %s, error = %s, ended_as = {ENDED_AS} "  # noqa: S608 (names of ours)
    "WHERE id = %s AND status = %s AND held_by = %s"
)


@dataclass(frozen=True, slots=True)
class Interrupted:
    """How many calls were ended, and the ids of the panels that this changed."""

    calls: int
    panels: frozenset[str]


def interrupt_running(why: str) -> int:
    """End every call left running by a process that is gone; returns how many. What had finished is kept."""
    return _interrupt(why, Call.objects.all(), Panel.objects.all()).calls


def interrupt_held(why: str, held_by: str) -> Interrupted:
    """End what one process of several has left running: its calls, and its panels that wait to be merged.

    Its calls are also those of its panels that nobody has taken: it may have ended before it had them queued.
    """
    panels = Panel.objects.filter(held_by=held_by, asked_at__gte=timezone.now() - LONGEST_PANEL)
    held = Q(held_by=held_by) | Q(held_by="", panel__in=panels)
    return _interrupt(why, Call.objects.filter(held), panels)


def interrupt_queued(why: str, asked_until: datetime) -> Interrupted:
    """End the calls asked until then that no process has taken."""
    return _interrupt(why, Call.objects.filter(held_by="", asked_at__lte=asked_until), Panel.objects.none())


@transaction.atomic
def _interrupt(why: str, calls: QuerySet[Call], panels: QuerySet[Panel]) -> Interrupted:
    """End those calls that run, and note on those panels that nobody merges them any more."""
    running = list(calls.filter(status=Call.Status.RUNNING).order_by("pk").values_list("pk", "panel__panel_id", "held_by"))
    hold_panels(panel_id for _, panel_id, _ in running)
    interrupted = (Call.Status.ERROR, "interrupted", why, Call.Status.RUNNING)
    written, changed = [], set()
    with connection.cursor() as cursor:
        for pk, panel_id, held_by in running:
            cursor.execute(INTERRUPT_CALL, (*interrupted, pk, Call.Status.RUNNING, held_by))
            if cursor.rowcount:
                written.append(pk)
                changed.add(panel_id)
    for some in parts(written):
        count(Calls.with_keys(some))
    unmerged = panels.filter(reply="merged", note="").exclude(calls__seat_name=Call.MERGER)
    # Locked, where a database has such locks, and looked at again: no merger is seated in between.
    locked = dict(unmerged.select_for_update(of=("self",)).values_list("pk", "panel_id"))
    for keys in parts(list(locked)):
        unseated = Panel.objects.filter(pk__in=keys).exclude(calls__seat_name=Call.MERGER)
        unseated.update(note=f"Not merged: {why}.")
    return Interrupted(len(written), frozenset(changed | set(locked.values())))
