"""Work that shares a transaction: panels that wait in line at the same time are written down by one.

On SQLite a transaction each, and what it takes to begin and to commit it, took as long as what was written in it.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar, cast

from django.db import transaction
from django.db.utils import InterfaceError, OperationalError

from gateway.workers.ledger.desks import Desks

Written = TypeVar("Written")
Result = TypeVar("Result")


class Turn:
    """What pieces of work that share a transaction read alike, read once for all of them."""

    def __init__(self) -> None:
        self._seen: dict[Callable[[], Any], Any] = {}

    def once(self, read: Callable[[], Result]) -> Result:
        if read not in self._seen:
            self._seen[read] = read()
        return cast(Result, self._seen[read])


@dataclass(frozen=True, slots=True)
class Piece(Generic[Result]):
    """Work, what is to be done with its result once that is committed, and who waits for it."""

    work: Callable[[Turn], Any]
    then: Callable[[Any], Result]
    done: Future[Result] = field(default_factory=Future)


# What is left of a piece once its work is committed: to do `then`, or to raise what it failed with.
Rest = Callable[[], Any]


class Together:
    """The line of pieces, of which a turn takes `most` at a time."""

    def __init__(self, desks: Desks, most: int) -> None:
        self._desks = desks
        self._most = most
        self._lock = threading.Lock()
        self._line: deque[Piece[Any]] = deque()

    def run(self, work: Callable[[Turn], Written], then: Callable[[Written], Result]) -> Future[Result]:
        piece: Piece[Result] = Piece(work, then)
        self._desks.join()
        with self._lock:
            # The first of as many as one turn takes.
            leads = len(self._line) % self._most == 0
            self._line.append(piece)
        if leads:
            self._desks.submit(self._take_turn)
        self._desks.call()
        return piece.done

    def _take_turn(self) -> None:
        with self._lock:
            line = [self._line.popleft() for _ in range(min(len(self._line), self._most))]
        pieces = [piece for piece in line if piece.done.set_running_or_notify_cancel()]
        for piece, rest in zip(pieces, self._rests(pieces), strict=True):
            _end(piece.done, rest)
        # Only now: seats that were asked meanwhile are handed over when others in line are written down.
        self._desks.leave(len(line))

    def _rests(self, pieces: Sequence[Piece[Any]]) -> Sequence[Rest]:
        """Do the work of pieces."""
        if not pieces:
            return []
        try:
            return self._desks.done(partial(_begun_together, pieces))
        except (OperationalError, InterfaceError) as error:
            return [partial(_again, error)] * len(pieces)
        except Exception as error:  # noqa: BLE001 (the turn's boundary: those who wait are told)
            if len(pieces) == 1:
                return [partial(_again, error)]
        # One of them is wrong in a way that only the commit tells, and nothing of any is written: each once more, alone.
        return [rest for piece in pieces for rest in self._rests([piece])]


def _begun_together(pieces: Sequence[Piece[Any]]) -> Sequence[Rest]:
    """Raises what fails them all. One alone has transactions of its own, where it needs one."""
    turn = Turn()
    if len(pieces) == 1:
        return [_begun(pieces[0], turn)]
    with transaction.atomic():
        rests = [_begun(piece, turn) for piece in pieces]
        if transaction.get_rollback():
            raise transaction.TransactionManagementError("a piece of work broke the transaction that it shared")
    return rests


def _begun(piece: Piece[Any], turn: Turn) -> Rest:
    try:
        return partial(piece.then, piece.work(turn))
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # noqa: BLE001 (the piece's boundary: it is its own caller's)
        return partial(_again, error)


def _again(error: Exception) -> Any:
    raise error


def _end(done: Future[Any], rest: Rest) -> None:
    try:
        done.set_result(rest())
    except Exception as error:  # noqa: BLE001 (as above)
        done.set_exception(error)
