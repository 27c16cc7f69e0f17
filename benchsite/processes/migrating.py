"""Migrations of one database, by one process at a time: whoever comes meanwhile waits, and then finds them done.

Runs none. Django itself has two that come together trip over each other's tables.
"""

import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

# Of PostgreSQL's locks, which are numbers, the one that this bench's migrations hold: "bench" in ASCII.
LOCK = 0x62656E6368
WAITS = "Another process migrates this database; waiting for it."
_BY_FILE = "migrate.lock"


@contextmanager
def alone(connection: BaseDatabaseWrapper, folder: Path) -> Iterator[None]:
    """Hold the right to migrate while the block runs. Raises django.db.OperationalError."""
    with _locked_in(connection) if connection.vendor == "postgresql" else _locked_by_file(folder):
        yield


@contextmanager
def _locked_in(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """By a transaction of a connection beside it: a lock of the session's may be another's behind a pooler."""
    beside = connection.copy()
    try:
        beside.set_autocommit(False)
        with beside.cursor() as cursor:
            # It waits for as long as the others take, and then for as long as this one does.
            cursor.execute("SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
            if cursor.fetchone() != (True,):
                logger.info(WAITS)
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        yield
    finally:
        beside.close()


@contextmanager
def _locked_by_file(folder: Path) -> Iterator[None]:
    # Not SQLite's own lock: the migrations need that.
    with (folder / _BY_FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.info(WAITS)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
