"""The ledger: the thread that touches the database for the request path, and writes ended seats down in batches.

One connection and one thread on SQLite, where writers queue anyway: two threads would wait for each other's lock with
sleeps of up to 100 ms, and two panels could seat the same stalest explorer. While it is busy, ended seats collect and
share the next transaction; when it is idle, a seat is written at once.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import TypeVar

from django.db import connection
from django.db.utils import InterfaceError, OperationalError

from evidence.services import record_calls
from gateway.reply import SeatAnswer
from gateway.workers.ended import Ended, follow_up
from gateway.workers.seat import for_the_log

Result = TypeVar("Result")
logger = logging.getLogger(__name__)

# Seconds, each after the half minute for which SQLite itself waits for its lock.
TRIES_AGAIN_AFTER = (1.0, 5.0, 15.0)
UNWRITTEN = "this answer could not be written to the call log: it cannot be judged; the gateway's log says why"


class Ledger:
    def __init__(self) -> None:
        self._desk = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._ended: deque[tuple[Ended, Future[SeatAnswer]]] = deque()
        self._lock = threading.Lock()
        self._flush_is_due = False

    def run(self, work: Callable[[], Result]) -> Future[Result]:
        """Do one piece of database work in the ledger's thread."""
        return self._desk.submit(_minding_the_connection, work)

    def record(self, ended: Ended) -> Future[SeatAnswer]:
        """Write one ended seat down; the Future resolves when its row is committed, and what it told has been acted on."""
        recorded: Future[SeatAnswer] = Future()
        with self._lock:
            self._ended.append((ended, recorded))
            if self._flush_is_due:
                return recorded
            self._flush_is_due = True
        self._desk.submit(self._flush)
        return recorded

    def _flush(self) -> None:
        with self._lock:
            batch = list(self._ended)
            self._ended.clear()
            self._flush_is_due = False
        written = _written([ended.answer for ended, _ in batch])
        _follow_up([ended for ended, _ in batch])
        for ended, recorded in batch:
            answer = ended.answer
            recorded.set_result(answer if written else replace(answer, error=answer.error or UNWRITTEN))


@cache
def ledger() -> Ledger:
    """The process's ledger."""
    return Ledger()


def _written(answers: list[SeatAnswer]) -> bool:
    """Write ended seats down, trying again while the database is busy or away; whether they were.

    An answer that cannot be written is still the caller's: it is given with a word, and the next start marks its row.
    """
    for wait in (*TRIES_AGAIN_AFTER, None):
        try:
            _minding_the_connection(lambda: record_calls([for_the_log(answer) for answer in answers]))
        except (OperationalError, InterfaceError):
            logger.warning("The database does not take %s ended seats", len(answers), exc_info=wait is None)
        except Exception:
            # The batch's boundary: the seats must end, whatever went wrong, or their panels never would.
            logger.exception("%s ended seats could not be written down", len(answers))
            return False
        else:
            return True
        if wait is not None:
            time.sleep(wait)
    return False


def _follow_up(seats: list[Ended]) -> None:
    """Act on what ended seats told: once, since their callers wait for it. A database that is away is no reason to fail."""
    try:
        _minding_the_connection(lambda: follow_up(seats))
    except Exception:
        # The batch's boundary, as above: the answers are written down by now.
        logger.exception("What %s ended seats told could not be acted on", len(seats))


def _minding_the_connection(work: Callable[[], Result]) -> Result:
    """Run `work`; drop a connection that broke, so that the next piece of work gets a new one."""
    try:
        return work()
    except (OperationalError, InterfaceError):
        connection.close()
        raise
