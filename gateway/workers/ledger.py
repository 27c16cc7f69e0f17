"""The ledger: the threads that touch the database for the request path, and write ended seats down in batches.

One thread and one connection on SQLite, where writers queue anyway: two threads would wait for each other's lock with
sleeps of up to 100 ms. A few on PostgreSQL, which answers several at once: each waits for it without holding up the others.
Ended seats are written by one at a time: while that is busy they collect and share the next transaction; when it is idle, a
seat is written at once.

A database that is away keeps nobody in line: whoever asks is told so at once, and ended seats are tried again until they
are written.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Generic, TypeVar

from django.db import connection, transaction
from django.db.utils import InterfaceError, OperationalError

from evidence.models import Call
from evidence.services import record_calls
from gateway.reply import SeatAnswer
from gateway.workers.ended import Ended, answer_in, follow_up
from gateway.workers.seat import for_the_log

Written = TypeVar("Written")
Result = TypeVar("Result")
logger = logging.getLogger(__name__)

# Seconds between tries of what the database did not take, the last for ever; SQLite itself waits half a minute for its lock.
TRIES_AGAIN_AFTER = (0.1, 0.5, 1.0, 2.0)
# Callers are not kept waiting for the log longer than that; their answers are written down all the same, when that can be.
TOLD_AFTER_SECONDS = 120.0
UNWRITTEN = "this answer is not in the call log, and cannot be judged before it is; the gateway's log says why"
# Seats in one transaction: one that fails is tried again whole.
AT_ONCE = 250
# Panels written down in one transaction: the first of them is told when the last is written.
TOGETHER = 16
# A connection that was not used for so long is looked at first: a database that was restarted meanwhile has closed it.
IDLE_SECONDS = 1.0
# What PostgreSQL says to one of two transactions that waited for each other: nothing of it was done.
LOST_TURN, TURNS = ("40001", "40P01"), 3
# Threads, and so connections, where the database is no file of this machine's.
DESKS = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """One ended seat, and who waits for it to be written down."""

    ended: Ended
    recorded: Future[SeatAnswer] = field(default_factory=Future)
    since: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Piece(Generic[Result]):
    """Work that shares a transaction, what is to be done once that is committed, and who waits for it."""

    work: Callable[[], Any]
    then: Callable[[Any], Result]
    done: Future[Result] = field(default_factory=Future)


class Ledger:
    def __init__(self, desks: int = 1, most_together: int = 1) -> None:
        self._desks = ThreadPoolExecutor(desks, thread_name_prefix="ledger")
        self._most_together = most_together
        self._together: deque[Piece[Any]] = deque()
        self._ended: deque[Entry] = deque()
        self._lock = threading.Lock()
        self._flush_is_due = False
        self._in_line = 0
        self._failures = 0
        self._used = threading.local()

    def run(self, work: Callable[[], Result]) -> Future[Result]:
        """Do one piece of database work in a thread of the ledger's."""
        with self._lock:
            self._in_line += 1
        done = self._desks.submit(self._next, work)
        done.add_done_callback(self._given_up)
        return done

    def run_together(self, work: Callable[[], Written], then: Callable[[Written], Result]) -> Future[Result]:
        """Do `work` in one transaction with what else is in line for that, and `then` with its result, once committed.

        What `work` raises is its own caller's, and undoes nothing that others do; a database that fails fails them all.
        """
        piece: Piece[Result] = Piece(work, then)
        with self._lock:
            self._in_line += 1
            self._together.append(piece)
        piece.done.add_done_callback(self._given_up)
        self._desks.submit(self._take_turn)
        return piece.done

    def run_last(self, work: Callable[[], Result]) -> Future[Result]:
        """The same, and before it one more try to write down what has ended by now."""

        def last() -> Result:
            self._flush()
            return self._done(work)

        return self._desks.submit(last)

    def after(self, what: Callable[[], None]) -> None:
        """Do what touches no database: now where nothing is in line, else when all of that has been begun; with one thread,
        and so on SQLite, done.
        """
        if self._in_line:
            self._desks.submit(what)
        else:
            what()

    def record(self, ended: Ended) -> Future[SeatAnswer]:
        """Write one ended seat down; the Future resolves when its row is committed, and what it told has been acted on."""
        entry = Entry(ended)
        with self._lock:
            self._ended.append(entry)
            if self._flush_is_due:
                return entry.recorded
            self._flush_is_due = True
        self._flush_soon()
        return entry.recorded

    def _flush_soon(self) -> None:
        self._desks.submit(self._flush)

    def _flush(self) -> None:
        with self._lock:
            batch = [self._ended.popleft() for _ in range(min(len(self._ended), AT_ONCE))]
        if batch and not self._took(batch):
            return
        with self._lock:
            self._flush_is_due = bool(self._ended)
        if self._flush_is_due:
            self._flush_soon()

    def _took(self, batch: Sequence[Entry]) -> bool:
        """Whether a batch is done with; else it is to be tried again."""
        try:
            late = self._done(partial(_written, batch))
        except (OperationalError, InterfaceError) as error:
            self._keep(batch, error)
            return False
        except Exception:
            # The batch's boundary: the seats must end, whatever went wrong, or their panels never would.
            logger.exception("%s ended seats could not be written down together", len(batch))
            return self._took_each(batch)
        self._failures = 0
        self._settle(batch, late)
        return True

    def _keep(self, batch: Sequence[Entry], error: Exception) -> None:
        """Try again later; whoever has waited for long enough is told its answer without."""
        wait = TRIES_AGAIN_AFTER[min(self._failures, len(TRIES_AGAIN_AFTER) - 1)]
        logger.warning("The database does not take %s ended seats", len(batch), exc_info=None if self._failures else error)
        self._failures += 1
        with self._lock:
            self._ended.extendleft(reversed(batch))
            waited = [entry for entry in self._ended if time.monotonic() - entry.since > TOLD_AFTER_SECONDS]
        for entry in waited:
            _tell(entry, None)
        again = threading.Timer(wait, self._flush_soon)
        again.daemon = True
        again.start()

    def _took_each(self, batch: Sequence[Entry]) -> bool:
        """One by one, so that what is wrong with one seat does not lose others."""
        for number, entry in enumerate(batch):
            late: Mapping[str, Call] | None = None
            try:
                late = self._done(partial(_written, [entry]))
            except (OperationalError, InterfaceError) as error:
                self._keep(batch[number:], error)
                return False
            except Exception:
                # The seat's boundary, as above.
                logger.exception("Seat %s could not be written down", entry.ended.answer.call)
            self._settle([entry], late)
        return True

    def _settle(self, batch: Sequence[Entry], late: Mapping[str, Call] | None) -> None:
        """Act on what ended seats told: once, since their callers wait for it. A database that is away is no reason to fail."""
        try:
            self._done(lambda: follow_up([entry.ended for entry in batch]))
        except Exception:
            # The batch's boundary, as above: the answers are written down by now.
            logger.exception("What %s ended seats told could not be acted on", len(batch))
        for entry in batch:
            _tell(entry, late)

    def _next(self, work: Callable[[], Result]) -> Result:
        self._out_of_line()
        return self._done(work)

    def _take_turn(self) -> None:
        with self._lock:
            line = [self._together.popleft() for _ in range(min(len(self._together), self._most_together))]
        pieces = [piece for piece in line if piece.done.set_running_or_notify_cancel()]
        if not pieces:
            # What was in line has been done with others, before its own turn.
            return
        try:
            committed = self._done(partial(_committed, pieces))
        except Exception as error:  # noqa: BLE001 (the turn's boundary: those who wait are told)
            committed = [partial(_again, error)] * len(pieces)
        for piece, rest in zip(pieces, committed, strict=True):
            _end(piece.done, rest)
        # Only now: who asks seats meanwhile leaves them to the end of the line.
        with self._lock:
            self._in_line -= len(pieces)

    def _given_up(self, work: Future[Any]) -> None:
        """Whoever waits for a Future in the event loop and is cancelled cancels it: what was in line is never begun."""
        if work.cancelled():
            self._out_of_line()

    def _out_of_line(self) -> None:
        with self._lock:
            self._in_line -= 1

    def _done(self, work: Callable[[], Result]) -> Result:
        """Do `work`; drop a connection that broke, so that the next piece of work gets a new one."""
        idle = time.monotonic() - getattr(self._used, "at", 0.0) > IDLE_SECONDS
        if idle and connection.connection is not None and not connection.is_usable():
            connection.close()
        try:
            return _in_turn(work)
        except (OperationalError, InterfaceError):
            connection.close()
            raise
        finally:
            self._used.at = time.monotonic()


@cache
def ledger() -> Ledger:
    """The process's ledger."""
    return Ledger(1, TOGETHER) if connection.vendor == "sqlite" else Ledger(DESKS)


def _committed(pieces: "Sequence[Piece[Any]]") -> Sequence[Callable[[], Any]]:
    """Do the work of pieces in one transaction; returns what is left to do of each. One alone has transactions of its own."""
    if len(pieces) == 1:
        return [_begun(pieces[0])]
    with transaction.atomic():
        rests = [_begun(piece) for piece in pieces]
        if transaction.get_rollback():
            raise transaction.TransactionManagementError("a piece of work broke the transaction that it shared")
    return rests


def _begun(piece: "Piece[Any]") -> Callable[[], Any]:
    try:
        return partial(piece.then, piece.work())
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # noqa: BLE001 (the piece's boundary: it is its own caller's)
        return partial(_again, error)


def _again(error: Exception) -> Any:
    raise error


def _end(done: Future[Any], rest: Callable[[], Any]) -> None:
    try:
        done.set_result(rest())
    except Exception as error:  # noqa: BLE001 (as above)
        done.set_exception(error)


def _in_turn(work: Callable[[], Result]) -> Result:
    """Do `work` again when its transaction was the one that gave way to another."""
    for _ in range(TURNS):
        try:
            return work()
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) not in LOST_TURN:
                raise
    return work()


def _written(batch: Sequence[Entry]) -> Mapping[str, Call]:
    """Returns the calls that others had ended before, as they stand, by id."""
    return record_calls([for_the_log(entry.ended.answer) for entry in batch])


def _tell(entry: Entry, late: Mapping[str, Call] | None) -> None:
    """Resolve with the answer as its row says, also where another process had ended it; None: there is no row of it yet."""
    if entry.recorded.done():
        return
    answer = entry.ended.answer
    row = None if late is None else late.get(answer.call)
    if late is None:
        answer = replace(answer, error=answer.error or UNWRITTEN)
    elif row:
        answer = replace(answer_in(row, answer.call), image_urls=answer.image_urls)
    entry.recorded.set_result(answer)
