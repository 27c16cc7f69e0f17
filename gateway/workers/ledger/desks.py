"""The threads that touch the database for the request path, each with its connection, and who is in line for them."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import connection
from django.db.utils import InterfaceError, OperationalError

Result = TypeVar("Result")

# A connection that was not used for so long is looked at first: a database that was restarted meanwhile has closed it.
IDLE_SECONDS = 1.0
# What PostgreSQL says to one of two transactions that waited for each other: nothing of it was done.
LOST_TURN, TRIES = ("40001", "40P01"), 4


class Desks:
    """Whoever has work for them does it by `done`, in a thread of theirs."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="ledger")
        self._is_one = threads == 1
        self._lock = threading.Lock()
        self._in_line = 0
        self._called = threading.Event()
        self._used = threading.local()

    def run(self, work: Callable[[], Result]) -> Future[Result]:
        """Do one piece of work for somebody who stands in line for it until it is begun."""
        self.join()
        done = self._threads.submit(self._next, work)
        self.call()
        done.add_done_callback(self._given_up)
        return done

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Do one piece of work for which nobody stands in line here."""
        return self._threads.submit(work)

    def after(self, what: Callable[[], None]) -> None:
        """Do what touches no database: now where nobody is in line, else in its turn."""
        if not self._in_line:
            return what()
        self.join()
        self._threads.submit(self._left, what)
        self.call()

    def join(self) -> None:
        """Stand in line."""
        with self._lock:
            self._in_line += 1

    def leave(self, count: int = 1) -> None:
        """Have so many stand in line no longer."""
        with self._lock:
            self._in_line -= count

    def call(self) -> None:
        """End the rest of a thread, once what is to be done has been submitted."""
        self._called.set()

    def rest(self, seconds: float) -> bool:
        """Keep a thread of theirs at rest for as long as nobody stands in line; whether it is called away, to come back after.

        Of several threads one that finds somebody in line is not: another is with them.
        """
        self._called.clear()
        if not self._in_line:
            return self._called.wait(seconds)
        # Who has just joined may still have to submit.
        time.sleep(0)
        return self._is_one

    def done(self, work: Callable[[], Result]) -> Result:
        """Do `work`; drop a connection that broke, so that the next piece of work gets a new one."""
        idle = time.monotonic() - getattr(self._used, "at", 0.0) > IDLE_SECONDS
        if idle and connection.connection is not None and not connection.is_usable():
            connection.close()
        try:
            return _tried(work)
        except (OperationalError, InterfaceError):
            connection.close()
            raise
        finally:
            self._used.at = time.monotonic()

    def _next(self, work: Callable[[], Result]) -> Result:
        self.leave()
        return self.done(work)

    def _left(self, what: Callable[[], None]) -> None:
        self.leave()
        what()

    def _given_up(self, work: Future[Any]) -> None:
        """Whoever waits for a Future in the event loop and is cancelled cancels it: what was in line is never begun."""
        if work.cancelled():
            self.leave()


def _tried(work: Callable[[], Result]) -> Result:
    """Do `work` again when its transaction was the one that gave way to another."""
    for _ in range(TRIES - 1):
        try:
            return work()
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) not in LOST_TURN:
                raise
    return work()
