"""What has to be there for a panel to be taken: the database and its migrations, Redis where one is named, a free seat.

Each is looked at beside the others and for a bounded time: what does not answer is said not to, and holds nobody up. Says
nothing of where anything is.
"""

import time
from collections.abc import Mapping
from concurrent.futures import Future
from functools import cache

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from benchsite.observing.look import Look
from gateway.errors import Unavailable
from gateway.workers import worker_pool
from keys.throttling import why_not_counting

# Seconds for all of it: a supervisor's own patience is often three.
PATIENCE = 2.0
# What was looked at, and why it is not as it should be: nothing where it is.
Findings = Mapping[str, str]


def look_at_all() -> Findings:
    """Look at everything at once."""
    gives_up = time.monotonic() + PATIENCE
    begun = [(names, look.begin()) for names, look in _looks().items()]
    found: dict[str, str] = {}
    for names, finding in begun:
        found |= _found(names, finding, max(0.0, gives_up - time.monotonic()))
    return {**found, **_seats()}


def _found(names: tuple[str, ...], finding: Future[Findings], seconds: float) -> Findings:
    try:
        return finding.result(seconds)
    except TimeoutError:
        return dict.fromkeys(names, f"no answer in {PATIENCE:g} seconds")
    except Exception as error:  # noqa: BLE001
        # A boundary: whatever is wrong is an answer here. The class alone, since a message may hold a password.
        return dict.fromkeys(names, f"cannot be looked at ({type(error).__name__})")


@cache
def _looks() -> Mapping[tuple[str, ...], Look[Findings]]:
    looks: dict[tuple[str, ...], Look[Findings]] = {("database", "migrations"): Look(_database)}
    if settings.REDIS_URL:
        looks[("redis",)] = Look(_redis)
    return looks


def _database() -> Findings:
    try:
        missing = len(_migrations() - set(MigrationRecorder(connection).applied_migrations()))
    except DatabaseError as error:
        # As libpq says it of a server to which nothing can be written; where others have a say it is told no more.
        why = "takes nothing: it is read-only" if "session is read-only" in str(error) else "does not answer"
        return {"database": why, "migrations": "not known"}
    finally:
        connection.close()
    return {"database": "", "migrations": f"{missing} missing: run manage.py migrate" if missing else ""}


@cache
def _migrations() -> frozenset[tuple[str, str]]:
    """Every migration of this release."""
    return frozenset(MigrationLoader(None).disk_migrations)


def _redis() -> Findings:
    return {"redis": why_not_counting(settings.REDIS_URL)}


def _seats() -> Findings:
    try:
        worker_pool().admit(1)
    except Unavailable as refusal:
        return {"seats": refusal.message}
    return {"seats": ""}
