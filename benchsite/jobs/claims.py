"""Who runs a job: rows claimed by conditional updates, so that of any number of processes one does.

A claim ends by itself when the process that holds it has died; whoever works for long renews it.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from benchsite.models import JobRun

# Longer than any job goes without a word of its own, and soon enough after a killed server.
LEASE = timedelta(minutes=15)
# Nothing is due, or held, for longer than that, unless the clock has been put back since.
FARTHEST_DUE, LONGEST_CLAIM = timedelta(days=2), 2 * LEASE


def set_up(names: Iterable[str], now: datetime) -> None:
    """Have a row for each job: one that never ran is due."""
    known = set(JobRun.objects.values_list("name", flat=True))
    missing = [JobRun(name=name, due_at=now) for name in names if name not in known]
    if missing:
        JobRun.objects.bulk_create(missing, ignore_conflicts=True)


def due(now: datetime) -> list[str]:
    """The jobs that are due and that nobody runs, in the order in which they became so."""
    return list(_free(now).filter(_is_due(now)).order_by("due_at", "name").values_list("name", flat=True))


def claim(name: str, now: datetime, by: str, *, if_due: bool) -> bool:
    """Take a job that nobody runs; whether it is this caller's now."""
    rows = _free(now).filter(name=name)
    if if_due:
        rows = rows.filter(_is_due(now))
    return rows.update(claimed_by=by, claimed_until=now + LEASE, started_at=now) == 1


def renew(name: str, now: datetime, by: str) -> bool:
    """Hold a claim for longer; False when it was lost."""
    return JobRun.objects.filter(name=name, claimed_by=by).update(claimed_until=now + LEASE) == 1


def settle(name: str, by: str, **ending: object) -> bool:
    """Write down how a job ended and let go of it; False when the claim was lost meanwhile, and nothing is written."""
    return JobRun.objects.filter(name=name, claimed_by=by).update(claimed_by="", claimed_until=None, **ending) == 1


def release(by: str, now: datetime) -> int:
    """Let go of whatever a process still holds that is about to end; its jobs stay due. Returns how many."""
    ending = {"outcome": JobRun.Outcome.STOPPED, "said": "the server stopped", "ended_at": now}
    return JobRun.objects.filter(claimed_by=by).update(claimed_by="", claimed_until=None, **ending)


def ask_now(name: str, now: datetime) -> bool:
    """Have a job due now; False when it is running, or there is none of this name."""
    return _free(now).filter(name=name).update(due_at=now) == 1


def _is_due(now: datetime) -> Q:
    return Q(due_at__lte=now) | Q(due_at__gt=now + FARTHEST_DUE)


def _free(now: datetime) -> QuerySet[JobRun]:
    ended = Q(claimed_until=None) | Q(claimed_until__lte=now) | Q(claimed_until__gt=now + LONGEST_CLAIM)
    return JobRun.objects.filter(ended)
