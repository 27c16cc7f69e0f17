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
    """Room for panels between looking for it and taking it: several are written down at once where the ledger has threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = 0

    @contextmanager
    def for_seats(self, seats: int) -> Iterator[Callable[[Ask], Answers]]:
        """Keep room for so many seats until the block has them asked, by what it is given, or ends. Raises Unavailable."""
        with self._lock:
            worker_pool().admit(seats + self._kept)
            self._kept += seats
        left = [seats]

        def take(ask: Ask) -> Answers:
            with self._lock:
                self._kept -= left.pop()
                return ask()

        try:
            yield take
        finally:
            with self._lock:
                self._kept -= sum(left)


@cache
def room() -> Room:
    """The process's own."""
    return Room()
