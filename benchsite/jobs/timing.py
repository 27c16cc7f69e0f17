"""When a job is due: at a time of day of this installation's own, and soon again after a failure. Values alone."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

DAY = timedelta(days=1)
# Between a run that was caught up and the next: else one that ran just before its time of day would run twice.
APART = timedelta(hours=12)
FIRST_RETRY, LAST_RETRY = timedelta(minutes=5), timedelta(hours=6)


def next_due(name: str, installation: str, after: datetime) -> datetime:
    """The job's time of day, the first that is far enough after its last run.

    No two installations ask a catalog at the same second; one always asks at its own.
    """
    midnight = datetime(after.year, after.month, after.day, tzinfo=UTC)
    due = midnight + timedelta(seconds=spread(name, installation, DAY.total_seconds()))
    while due < after + APART:
        due += DAY
    return due


def retry_due(name: str, installation: str, after: datetime, failures: int) -> datetime:
    """When to try again after so many failures in a row: each time twice as late, and no later than it is due anyway."""
    return min(after + min(FIRST_RETRY * (1 << min(failures - 1, 20)), LAST_RETRY), next_due(name, installation, after))


def spread(name: str, installation: str, seconds: float) -> float:
    """So many of these seconds: by chance, and always the same for one job of one installation."""
    digest = sha256(f"{installation}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64 * seconds
