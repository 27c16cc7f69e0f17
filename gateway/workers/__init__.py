"""Who runs the seats: a pool named by BENCH_WORKER_POOL, one for the process, and room in it for panels that open at once."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import cast

from django.utils.module_loading import import_string

from gateway.conf import conf
from gateway.reply import SeatAnswer
from gateway.workers.contract import WorkerPool

Answers = tuple[Future[SeatAnswer], ...]
Ask = Callable[[], Answers]


@cache
def worker_pool() -> WorkerPool:
    """The process's worker pool."""
    return cast(WorkerPool, import_string(conf.worker_pool)())


class Room:
    """Room for panels between looking for it and taking it: several are written down before the seats of any are asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = 0

    @contextmanager
    def for_a_panel(self) -> "Iterator[Kept]":
        """Lend what keeps room for one panel, until that takes it or the block ends."""
        kept = Kept(self)
        try:
            yield kept
        finally:
            kept.take(lambda: ())

    def keep(self, seats: int, *, instead_of: int) -> None:
        """Raises Unavailable; then the room kept before is gone too."""
        with self._lock:
            self._kept -= instead_of
            worker_pool().admit(seats + self._kept)
            self._kept += seats

    def take(self, seats: int, ask: Ask) -> Answers:
        with self._lock:
            self._kept -= seats
            return ask()


class Kept:
    """Room kept for one panel: none at first."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._seats = 0

    def keep(self, seats: int) -> None:
        """Keep room for so many seats, in place of what was kept. Raises Unavailable."""
        before, self._seats = self._seats, 0
        self._room.keep(seats, instead_of=before)
        self._seats = seats

    def take(self, ask: Ask) -> Answers:
        """Have the seats asked, for whom room is kept no longer."""
        seats, self._seats = self._seats, 0
        return self._room.take(seats, ask)


@cache
def room() -> Room:
    """The process's own."""
    return Room()
