"""The thread of `serve` that runs daily jobs: one after the other, beside the event loop and the ledger.

Looks once a minute what is due; a missed run is one that is due already.
"""

import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from functools import cache

from django.db import DatabaseError, connections
from django.utils import timezone

from benchsite.jobs.claims import due, release, set_up
from benchsite.jobs.daily import JOBS, Job
from benchsite.jobs.running import Clock, installation, run_job
from benchsite.jobs.timing import spread

logger = logging.getLogger(__name__)

LOOKS_EVERY_SECONDS = 60.0
# After a start, so that the first callers come before what was missed; and no two servers of one power cut at once.
FIRST_LOOK_SECONDS, FIRST_LOOK_SPREAD = 20.0, 40.0
# How long a stop waits for a job to end between two steps.
STOP_SECONDS = 5.0


class DailyJobs:
    """Started at most once. Every method may be called from any thread."""

    def __init__(
        self,
        *,
        jobs: Mapping[str, Job] = JOBS,
        clock: Clock = timezone.now,
        first_look: Callable[[], float] | None = None,
    ) -> None:
        self._jobs = jobs
        self._clock = clock
        self._first_look = first_look or _first_look
        self._by = secrets.token_hex(8)
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        # A daemon: a process that ends does not wait for a catalog that does not answer.
        self._thread = threading.Thread(target=self._work, name="daily-jobs", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def wake(self) -> None:
        """Look now what is due."""
        self._woken.set()

    def stop(self) -> None:
        """Start no job any more, and have the one that runs end at its next step."""
        self._stopping.set()
        self._woken.set()

    def close(self, seconds: float = STOP_SECONDS) -> None:
        """Stop, wait for the job that runs, and let go of it when it does not end."""
        self.stop()
        if self._thread is None:
            return
        self._thread.join(seconds)
        if self._thread.is_alive():
            try:
                release(self._by, self._clock())
            except DatabaseError:
                logger.warning(
                    "The database does not answer; the daily job that was running is tried again when its claim ends"
                )

    def _work(self) -> None:
        self._wait(self._first_look())
        while not self._stopping.is_set():
            try:
                self._run_due()
            except Exception:
                # The thread's boundary: a database that is away today is there tomorrow.
                logger.exception("Daily jobs could not be looked up or written down")
            finally:
                # None is held while waiting: this thread works for seconds a day.
                connections.close_all()
            self._wait(LOOKS_EVERY_SECONDS)

    def _run_due(self) -> None:
        set_up(self._jobs, self._clock())
        for name in due(self._clock()):
            if self._stopping.is_set():
                return
            if name in self._jobs:
                run_job(name, if_due=True, by=self._by, stopping=self._stopping.is_set, clock=self._clock, jobs=self._jobs)

    def _wait(self, seconds: float) -> None:
        if not self._stopping.is_set():
            self._woken.wait(seconds)
        self._woken.clear()


@cache
def daily_jobs() -> DailyJobs:
    """The process's own."""
    return DailyJobs()


def _first_look() -> float:
    return FIRST_LOOK_SECONDS + spread("first look", installation(), FIRST_LOOK_SPREAD)
