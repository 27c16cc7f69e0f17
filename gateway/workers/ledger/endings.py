"""Ended seats, written down in batches by one thread at a time.

While that is busy they collect and share the next transaction, and those that end soon after its beginning wait for each
other a moment; else a seat is written at once.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from django.db.utils import InterfaceError, OperationalError

from evidence.models import Call
from evidence.services import record_calls
from gateway.reply import SeatAnswer
from gateway.workers.ended import Ended, answer_in, follow_up
from gateway.workers.ledger.desks import Desks
from gateway.workers.seat import for_the_log

Result = TypeVar("Result")
logger = logging.getLogger(__name__)

# Seconds between tries of what the database did not take, the last for ever; SQLite itself waits half a minute for its lock.
TRIES_AGAIN_AFTER = (0.1, 0.5, 1.0, 2.0)
# Callers are not kept waiting for the log longer than that; their answers are written down all the same, when that can be.
TOLD_AFTER_SECONDS = 120.0
UNWRITTEN = "this answer is not in the call log, and cannot be judged before it is; the gateway's log says why"
# From one transaction's beginning to the next, and the longer for each seat in it: where many seats end, one for every few
# took most of the thread's time.
GATHER_SECONDS, GATHER_SECONDS_A_SEAT, GATHER_AT_MOST_SECONDS = 0.01, 0.002, 0.03
# Seats in one transaction: one that fails is tried again whole.
AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class Entry:
    """One ended seat, and who waits for it to be written down."""

    ended: Ended
    recorded: Future[SeatAnswer]
    since: float = field(default_factory=time.monotonic)


class Endings:
    def __init__(self, desks: Desks) -> None:
        self._desks = desks
        self._lock = threading.Lock()
        self._ended: deque[Entry] = deque()
        self._flush_is_due = False
        self._flushed_at = 0.0
        self._flushed = 0
        self._failures = 0

    def record(self, ended: Ended, recorded: Future[SeatAnswer] | None = None) -> Future[SeatAnswer]:
        """Write one ended seat down; the Future, a new one unless there is one that somebody waits for, resolves when its row
        is committed, and what it told has been acted on.
        """
        entry = Entry(ended, recorded or Future())
        with self._lock:
            self._ended.append(entry)
            if self._flush_is_due:
                return entry.recorded
            self._flush_is_due = True
        self._flush_soon()
        return entry.recorded

    def write_before(self, work: Callable[[], Result]) -> Result:
        """Do `work` after one more try to write down what has ended by now."""
        self._write()
        return self._desks.done(work)

    def _flush_soon(self) -> None:
        self._desks.submit(self._flush)

    def _flush(self) -> None:
        """Write, once other seats had their moment. Where one thread serves all, who is in line or comes meanwhile is served
        first, so that a seat may wait for the moment and for who is in line at its end.
        """
        gather = max(GATHER_SECONDS, min(GATHER_SECONDS_A_SEAT * self._flushed, GATHER_AT_MOST_SECONDS))
        left = self._flushed_at + gather - time.monotonic()
        if left > 0 and self._desks.rest(left):
            self._flush_soon()
        else:
            self._write()

    def _write(self) -> None:
        self._flushed_at = time.monotonic()
        with self._lock:
            batch = [self._ended.popleft() for _ in range(min(len(self._ended), AT_ONCE))]
        self._flushed = len(batch)
        if batch and not self._took(batch):
            return
        with self._lock:
            self._flush_is_due = bool(self._ended)
        if self._flush_is_due:
            self._flush_soon()

    def _took(self, batch: Sequence[Entry]) -> bool:
        """Whether a batch is done with; else it is to be tried again."""
        try:
            late = self._desks.done(partial(_written, batch))
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
                late = self._desks.done(partial(_written, [entry]))
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
            self._desks.done(lambda: follow_up([entry.ended for entry in batch]))
        except Exception:
            # The batch's boundary, as above: the answers are written down by now.
            logger.exception("What %s ended seats told could not be acted on", len(batch))
        for entry in batch:
            _tell(entry, late)


def _written(batch: Sequence[Entry]) -> Mapping[str, Call]:
    """Returns the calls that others had ended before, as they stand, by id."""
    return record_calls([for_the_log(entry.ended.answer) for entry in batch])


def _tell(entry: Entry, late: Mapping[str, Call] | None) -> None:
    """Resolve with the answer as its row says, also where another process had ended it; None: there is no row of it yet."""
    answer = entry.ended.answer
    row = None if late is None else late.get(answer.call)
    if late is None:
        answer = replace(answer, error=answer.error or UNWRITTEN)
    elif row:
        answer = replace(answer_in(row, answer.call), image_urls=answer.image_urls)
    # Told before, perhaps, or its panel was: as interrupted, or as others ended it.
    with suppress(InvalidStateError):
        entry.recorded.set_result(answer)
