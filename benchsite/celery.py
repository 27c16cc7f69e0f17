"""What `celery -A benchsite` runs: workers that ask seats and do daily jobs, and beat, which has the jobs looked at.

The site's wiring; what a worker does with a seat is gateway/workers/celery/worker.py.
"""

import logging
import os
from contextlib import suppress
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
# Loads the apps, which everything below needs.
django.setup()

from celery.apps.beat import Beat  # noqa: E402
from celery.apps.worker import Worker, install_worker_term_handler  # noqa: E402
from celery.signals import celeryd_init, setup_logging, worker_ready, worker_shutdown, worker_shutting_down  # noqa: E402
from django.conf import settings  # noqa: E402
from django.db import connections  # noqa: E402
from redis import RedisError  # noqa: E402

from benchsite.jobs.daily import JOBS as DAILY_JOBS  # noqa: E402
from benchsite.jobs.running import run_job  # noqa: E402
from benchsite.log.sources import take_over  # noqa: E402
from benchsite.observing.worker import serve_metrics  # noqa: E402
from benchsite.processes.memory import keep_few_arenas  # noqa: E402
from evidence.processes.here import this_process  # noqa: E402
from gateway.telemetry.spans import tracer  # noqa: E402
from gateway.workers.celery.app import ASK_SEAT, JOBS  # noqa: E402
from gateway.workers.celery.app import seat_app as app  # noqa: E402
from gateway.workers.celery.kinship import STRANGER, is_stranger  # noqa: E402
from gateway.workers.celery.worker import seat_worker, stop_in_time  # noqa: E402

__all__ = ["app"]

logger = logging.getLogger(__name__)

LOOKS_EVERY_SECONDS = 60.0
# Looks that nobody took pile up no longer than that; short of it, beat's clock and a worker's need not agree.
LOOK_EXPIRES_SECONDS = 3600.0
RUN_JOB = "benchsite.run_job"
# Celery greets in pictures, for somebody at a terminal; whoever collects lines reads JSON.
QUIET = settings.BENCH_LOG_FORMAT == "json"

app.conf.beat_schedule = {
    name: {
        "task": RUN_JOB,
        "args": [name],
        "schedule": LOOKS_EVERY_SECONDS,
        "options": {"queue": JOBS, "expires": LOOK_EXPIRES_SECONDS},
    }
    for name in DAILY_JOBS
}


@app.task(name=ASK_SEAT)  # type: ignore[untyped-decorator]
def ask_seat(document: str) -> None:
    """Ask one seat."""
    seat_worker().ask(document)


# Acknowledged at once: a job that takes long is not begun again because of that, nor by two workers, and one that a killed
# worker had begun is due still.
@app.task(name=RUN_JOB, acks_late=False)  # type: ignore[untyped-decorator]
def run_daily_job(name: str) -> None:
    """Run a daily job if it is due and nobody runs it."""
    try:
        run_job(name, if_due=True)
    finally:
        # None is held between jobs.
        connections.close_all()


@setup_logging.connect  # type: ignore[untyped-decorator]
def keep_logging(**_: Any) -> None:
    """Have Celery log as the site does (settings.LOGGING): nothing of a request."""
    take_over()


@celeryd_init.connect  # type: ignore[untyped-decorator]
def prepare(instance: Any, **_: Any) -> None:
    instance.quiet = instance.quiet or QUIET
    # One that is away is waited for; later, a job that does not open says the same.
    with suppress(RedisError, OSError):
        if settings.REDIS_URL and is_stranger():
            logger.critical("%s. This worker does not start", STRANGER)
            raise SystemExit(1)
    keep_few_arenas()


class QuietWorker(Worker):  # type: ignore[misc]
    """A worker, quiet where lines are JSON when it is told to stop too: Celery would write that past the loggers."""

    def install_platform_tweaks(self, worker: Worker) -> None:
        super().install_platform_tweaks(worker)
        if QUIET:
            install_worker_term_handler(worker, verbose=False)


app.Worker = app.subclass_with_self(QuietWorker)


class QuietBeat(Beat):  # type: ignore[misc]
    """Beat, quiet where lines are JSON: it has no signal to be told by."""

    def __init__(self, *args: Any, quiet: bool = False, **options: Any) -> None:
        super().__init__(*args, quiet=quiet or QUIET, **options)


app.Beat = app.subclass_with_self(QuietBeat)


@worker_ready.connect  # type: ignore[untyped-decorator]
def join(**_: Any) -> None:
    """Say that this worker is there."""
    try:
        # Before its first seat: it loads for a while, where traces are wanted.
        tracer()
        _show_numbers()
        seat_worker()
    except Exception as error:
        # Celery would go on with a worker of which nobody hears.
        logger.critical("This worker cannot join the others (%s)", type(error).__name__, exc_info=error)
        raise SystemExit(1) from None


def _show_numbers() -> None:
    try:
        serve_metrics()
    except OSError as error:
        logger.critical(
            "This worker cannot join the others: port %d (BENCH_METRICS_PORT) cannot be had (%s)",
            settings.BENCH_METRICS_PORT,
            error.strerror,
        )
        raise SystemExit(1) from None


# One that has not joined holds no seat, and has nobody to tell that it leaves.
@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def drain(**_: Any) -> None:
    if this_process().name:
        stop_in_time()


@worker_shutdown.connect  # type: ignore[untyped-decorator]
def leave(**_: Any) -> None:
    if this_process().name:
        seat_worker().finish()
