"""The daily jobs: a name, what for, and the function of an app that does it. A new job is a function, and a line here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module

from django.conf import settings
from django.utils import timezone

from collections_app.catalog.refresh import refresh
from collections_app.services.findings import prune_health as forget_health
from evidence.pruning import prune_panels

# Called between two steps of a job; raises to end it there, in good order.
Step = Callable[[], None]


class JobFailedError(Exception):
    """A job did not do what it is for: why, in words for a person."""


@dataclass(frozen=True, slots=True)
class Job:
    """`run` does the job and returns what came of it, in a line; `about` says what for."""

    name: str
    about: str
    run: Callable[[Step], str]


def refresh_catalog(step: Step) -> str:
    """Read what is known about models from every source."""
    summary = refresh(progress=lambda *_: step())
    failed = [outcome.source for outcome in summary.outcomes if outcome.error]
    if summary.failed:
        raise JobFailedError(f"no source could be read: {', '.join(failed)}")
    said = f"{len(summary.outcomes)} sources, {len(summary.changes)} changes on this bench, {len(summary.alerts)} new alerts"
    return f"{said}; not read: {', '.join(failed)}" if failed else said


def prune_log(step: Step) -> str:
    """Forget panels older than BENCH_LOG_DAYS."""
    if settings.BENCH_LOG_DAYS < 1:
        return "the whole log is kept (BENCH_LOG_DAYS is 0)"
    gone = prune_panels(timezone.now() - timedelta(days=settings.BENCH_LOG_DAYS), after_each=step)
    return f"{gone.panels:,} panels and {gone.calls:,} calls removed; their counts are kept"


def prune_health(step: Step) -> str:
    """Forget counts and cool-downs that nothing depends on any more."""
    return f"{forget_health(timezone.now()):,} rows removed"


def clear_sessions(step: Step) -> str:
    """Forget log-ins that have run out."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    return "log-ins that had run out are removed"


JOBS: Mapping[str, Job] = {
    job.name: job
    for job in (
        Job("refresh_catalog", "Reads what is known about models: windows, prices, limits, retirements.", refresh_catalog),
        Job("prune_log", "Forgets panels older than BENCH_LOG_DAYS.", prune_log),
        Job("prune_health", "Forgets used-up counts of limits, cool-downs and doubts that are over.", prune_health),
        Job("clear_sessions", "Forgets the dashboard's log-ins that have run out.", clear_sessions),
    )
}
