"""The data folder belongs to one server alone, or to any number of web processes that share it.

Two that each thought themselves alone would take the other's running seats for a dead process's.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection


class FolderInUseError(Exception):
    """Others hold the folder, and it cannot be held beside them."""


def settle() -> None:
    """Write SQLite's log back into its file: whoever copies the file of a stopped server has the whole database."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            # Whoever holds the lock now is not waited for.
            cursor.execute("PRAGMA busy_timeout = 1000")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@contextmanager
def owned(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold `folder` while the block runs, alone or with others. Raises FolderInUseError.

    The kernel lets go of it when the process dies.
    """
    with (folder / "serve.lock").open("w") as lock:
        try:
            fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(f"Another server is running on {folder}.") from None
        yield
