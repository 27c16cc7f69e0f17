"""One job, run once: claimed, done, and written down, whoever calls; the one function of every scheduler."""

import logging
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from benchsite.jobs.claims import LEASE, claim, renew, set_up, settle
from benchsite.jobs.daily import JOBS, Job, JobFailedError
from benchsite.jobs.timing import next_due, retry_due
from benchsite.models import JobRun
from evidence.storable import clean_text
from gateway.redact import redact

logger = logging.getLogger(__name__)

LONGEST_SAID = 500
# A claim is renewed at most this often: a job may take thousands of steps.
RENEWED_EVERY = LEASE / 15
Clock = Callable[[], datetime]


class JobStoppedError(Exception):
    """A job was told to end between two steps; it stays due."""


def run_job(
    name: str,
    *,
    if_due: bool,
    by: str = "",
    stopping: Callable[[], bool] = lambda: False,
    clock: Clock = timezone.now,
    jobs: Mapping[str, Job] = JOBS,
) -> JobRun | None:
    """Run a job unless another process runs it, or, with `if_due`, it is not due. Returns how it went; None: it was not run.

    Raises KeyError for a name that no job has, and nothing for a job that fails: that is written down, and tried again.
    """
    job = jobs[name]
    by = by or secrets.token_hex(8)
    set_up([name], clock())
    if not claim(name, clock(), by, if_due=if_due):
        return None
    _settled(job, by, clock, _Steps(name, by, stopping=stopping, clock=clock))
    return JobRun.objects.get(name=name)


def _settled(job: Job, by: str, clock: Clock, steps: "_Steps") -> None:
    try:
        said = job.run(steps)
    except JobStoppedError as stop:
        settle(job.name, by, outcome=JobRun.Outcome.STOPPED, said=str(stop), ended_at=clock())
    except Exception as error:  # noqa: BLE001
        # The job's boundary: whatever it ran into is told, and the other jobs go on.
        _failed(job, by, clock(), error)
    else:
        now = clock()
        ending = {"outcome": JobRun.Outcome.DONE, "said": clean_text(said[:LONGEST_SAID]), "ended_at": now, "failures": 0}
        settle(job.name, by, due_at=next_due(job.name, installation(), now), **ending)


def _failed(job: Job, by: str, now: datetime, error: Exception) -> None:
    if not isinstance(error, JobFailedError):
        logger.error("The daily job %s failed", job.name, exc_info=error)
    words = str(error) if isinstance(error, JobFailedError) else f"{type(error).__name__}: {error}"
    failures = JobRun.objects.values_list("failures", flat=True).get(name=job.name) + 1
    ending = {
        "outcome": JobRun.Outcome.FAILED,
        "said": clean_text(redact(words)[:LONGEST_SAID]),
        "ended_at": now,
        "failures": failures,
    }
    settle(job.name, by, due_at=retry_due(job.name, installation(), now, failures), **ending)


def installation() -> str:
    """What tells this installation from any other."""
    return str(settings.SECRET_KEY)


class _Steps:
    """Called by a job between its steps: holds its claim, and ends it when its process stops or the claim is lost."""

    def __init__(self, name: str, by: str, *, stopping: Callable[[], bool], clock: Clock) -> None:
        self._name = name
        self._by = by
        self._stopping = stopping
        self._clock = clock
        self._renewed = clock()

    def __call__(self) -> None:
        if self._stopping():
            raise JobStoppedError("the server stopped")
        now = self._clock()
        if now - self._renewed < RENEWED_EVERY:
            return
        self._renewed = now
        if not renew(self._name, now, self._by):
            raise JobStoppedError("another process has taken it over")


def is_running(run: JobRun, now: datetime) -> bool:
    """Whether a process holds the job."""
    return run.claimed_until is not None and run.claimed_until > now
