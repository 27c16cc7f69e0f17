"""Ending what processes that are gone have left running: no seat runs for ever, and no reader waits for one that does.

Only running rows are ended, so that any number of processes may sweep at once.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min

from evidence.models import Call, Process
from evidence.processes.interrupting import Interrupted, interrupt_held, interrupt_queued
from evidence.processes.watch import Watch

logger = logging.getLogger(__name__)

GONE = "the process that was asking this seat is gone, or hung for too long; whether its model answered is not known"
NOT_TAKEN = "no worker took this seat in time"
# Who holds the seats that nobody has taken.
_QUEUE = ""


@dataclass(frozen=True, slots=True)
class Swept:
    """Who was found gone, how many calls were ended, and the ids of their panels."""

    gone: tuple[str, ...] = ()
    calls: int = 0
    panels: frozenset[str] = frozenset()


def sweep(watch: Watch, *, own_name: str, queued_seconds: float) -> Swept:
    """End the running calls of processes that have gone silent, and the oldest that nobody took within `queued_seconds`.

    A panel whose process is gone gets the note that nobody merges it. Two queries while nobody is gone.
    """
    beats: dict[str, datetime | None] = dict(Process.objects.values_list("name", "seen_at"))
    running = Call.objects.filter(status=Call.Status.RUNNING).order_by().values_list("held_by").annotate(Min("asked_at"))
    oldest = dict(running)
    queued_since = oldest.pop(_QUEUE, None)
    # The queue is watched as if it were a process, which beats whenever its oldest seat is another.
    silent = watch.silent(dict.fromkeys(oldest) | beats | {_QUEUE: queued_since})
    gone = [name for name in silent if name not in (own_name, _QUEUE)]
    ended = [_bury(name) for name in gone]
    watch.forget(gone)
    if queued_since is not None and watch.seconds_of(_QUEUE) > queued_seconds:
        ended.append(interrupt_queued(NOT_TAKEN, queued_since))
    return _summed(gone, ended)


def _bury(name: str) -> Interrupted:
    ended = interrupt_held(GONE, name)
    # Last: until all it held has ended, it is found gone again.
    Process.objects.filter(name=name).delete()
    logger.warning("Process %s is gone: %s seats that it held are recorded as interrupted", name, ended.calls)
    return ended


def _summed(gone: Sequence[str], ended: Sequence[Interrupted]) -> Swept:
    panels = frozenset[str]().union(*(part.panels for part in ended))
    return Swept(tuple(gone), sum(part.calls for part in ended), panels)
