"""The ledger: the threads that touch the database for the request path, and write down what begins and ends in batches.

One thread and one connection on SQLite, where writers queue anyway: two threads would wait for each other's lock with
sleeps of up to 100 ms, and panels that wait in line at the same time share a transaction. A few on PostgreSQL, which answers
several at once: each waits for it without holding up the others.

A database that is away keeps nobody in line: whoever asks is told so at once, and ended seats are tried again until they
are written.
"""

from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import TypeVar

from django.db import connection

from gateway.reply import SeatAnswer
from gateway.workers.ended import Ended
from gateway.workers.ledger.desks import Desks
from gateway.workers.ledger.endings import Endings
from gateway.workers.ledger.together import Together, Turn

__all__ = ["Ledger", "Turn", "ledger"]

Written = TypeVar("Written")
Result = TypeVar("Result")

# Threads, and so connections, where the database is no file of this machine's.
DESKS = 4
# Pieces of work in one transaction: the first of them is told when the last is done.
TOGETHER = 16


class Ledger:
    def __init__(self, desks: int = 1, most_together: int = 1) -> None:
        self._desks = Desks(desks)
        self._together = Together(self._desks, most_together)
        self._endings = Endings(self._desks)

    def run(self, work: Callable[[], Result]) -> Future[Result]:
        """Do one piece of database work in a thread of the ledger's."""
        return self._desks.run(work)

    def run_together(self, work: Callable[[Turn], Written], then: Callable[[Written], Result]) -> Future[Result]:
        """Do `work` in one transaction with what else is in line for that, and `then` with its result, once committed.

        What `work` raises is its own caller's. It undoes nothing that others do, nor what `work` itself wrote before: that
        comes last, or in a savepoint. A database that fails fails them all. `work` may be done twice, what it wrote the first
        time undone. `then` touches no database.
        """
        return self._together.run(work, then)

    def run_last(self, work: Callable[[], Result]) -> Future[Result]:
        """Do one piece of database work, and before it one more try to write down what has ended by now."""
        return self._desks.submit(lambda: self._endings.write_before(work))

    def after(self, what: Callable[[], None]) -> None:
        """Do what touches no database: now where nobody is in line, else when all of that has been begun; with one thread,
        and so on SQLite, done.
        """
        self._desks.after(what)

    def record(self, ended: Ended, recorded: Future[SeatAnswer] | None = None) -> Future[SeatAnswer]:
        """Write one ended seat down, perhaps with others; the Future, `recorded` where that is given, resolves when all is done
        that follows from it.
        """
        return self._endings.record(ended, recorded)


@cache
def ledger() -> Ledger:
    """The process's ledger."""
    return Ledger(1, TOGETHER) if connection.vendor == "sqlite" else Ledger(DESKS)
