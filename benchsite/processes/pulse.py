"""The pulse of a web process among several: every few seconds it says that it is there, and looks after those that are not.

Works in the ledger's thread, as all that touches the database for the request path; a database that is away is tried again.
"""

import asyncio
import logging
import time
from datetime import timedelta
from functools import cache

from django.db import Error
from django.utils import timezone

from evidence.again import forget_questions
from evidence.live import announce
from evidence.models import Call, Process
from evidence.processes.here import this_process
from evidence.processes.sweep import Swept, sweep
from evidence.processes.watch import LOOKS_EVERY_SECONDS, Watch
from gateway.conf import conf
from gateway.panel.elsewhere.awaited import awaited_seats
from gateway.workers.ledger import ledger

logger = logging.getLogger(__name__)

# After a seat's time-out, for the wait until a worker takes it.
QUEUE_MARGIN_SECONDS = 180.0
# Names of questions are kept a while: only those of running panels are asked for.
QUESTIONS_KEPT = timedelta(minutes=10)
FORGETS_EVERY = 60


class Pulse:
    """Started once, in the event loop. `late_seconds` may be asked for in any thread."""

    def __init__(self) -> None:
        self._watch = Watch()
        self._beating: asyncio.Task[None] | None = None
        self._beats = 0
        self._beat_at = time.monotonic()
        self._away = False

    def start(self) -> None:
        self._beating = asyncio.ensure_future(self._beat_always())

    @property
    def late_seconds(self) -> float:
        """How long ago it last said that it is there: past GONE_AFTER_SECONDS others take it for gone."""
        return time.monotonic() - self._beat_at

    async def _beat_always(self) -> None:
        while True:
            try:
                swept, ended = await asyncio.wrap_future(ledger().run(self._beat))
                awaited_seats().end(ended)
                await asyncio.gather(*(announce(panel_id) for panel_id in swept.panels))
                self._away = False
            except Error as error:
                if not self._away:
                    logger.warning(
                        "The database does not answer (%s): no other process hears of this one", type(error).__name__
                    )
                self._away = True
            await asyncio.sleep(LOOKS_EVERY_SECONDS)

    def _beat(self) -> tuple[Swept, list[Call]]:
        this_process().beat()
        self._beat_at = time.monotonic()
        self._beats += 1
        swept = sweep(self._watch, own_name=this_process().name, queued_seconds=conf.seat_timeout + QUEUE_MARGIN_SECONDS)
        if self._beats % FORGETS_EVERY == 0:
            forget_questions(timezone.now() - QUESTIONS_KEPT)
        return swept, awaited_seats().ended_elsewhere()


def others_seen(within: timedelta) -> int:
    """How many other web processes have said within this time that they are there."""
    seen = Process.objects.filter(kind=Process.Kind.WEB, seen_at__gte=timezone.now() - within)
    return seen.exclude(name=this_process().name).count()


@cache
def pulse() -> Pulse:
    """The process's own."""
    return Pulse()
