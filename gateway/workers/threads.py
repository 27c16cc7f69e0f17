"""Seats in threads of this process: the pool of a single machine."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from gateway.conf import conf
from gateway.errors import Unavailable
from gateway.reply import SeatAnswer
from gateway.upstream import get_ready
from gateway.workers.job import SeatJob
from gateway.workers.key_ring import KeyRing
from gateway.workers.ledger import ledger
from gateway.workers.seat import OnText, run_seat
from gateway.workers.turnstile import Turnstile

# Seats that may wait for each that is answered; beyond that a caller waits longer than its own time-out.
QUEUED_PER_WORKER = 4
FULL_WAIT_SECONDS = 10


class ThreadWorkerPool:
    asks_here = True

    def __init__(self) -> None:
        get_ready()
        self._threads = ThreadPoolExecutor(conf.seat_workers, thread_name_prefix="seat")
        self._capacity = conf.seat_workers * (1 + QUEUED_PER_WORKER)
        self._ledger = ledger()
        self._keys = KeyRing(lambda read: self._ledger.run(read).result())
        self._turnstile = Turnstile(lambda reserve: self._ledger.run(reserve).result())
        self._lock = threading.Lock()
        self._running = 0
        self._queued = 0
        self._closed = False
        self._seated: list[Callable[[], None]] = []

    def admit(self, seats: int) -> None:
        if self._closed:
            raise Unavailable("The server is stopping and takes no new panels. Try again in a moment.", wait=FULL_WAIT_SECONDS)
        if self._running + seats > self._capacity:
            raise Unavailable(
                f"Every seat is taken: {self._capacity} may answer or wait at once, and fewer are free than this panel has. "
                f"Try again in {FULL_WAIT_SECONDS} seconds, or raise BENCH_SEAT_WORKERS.",
                wait=FULL_WAIT_SECONDS,
            )

    def submit(self, job: SeatJob, on_text: OnText | None = None) -> Future[SeatAnswer]:
        recorded: Future[SeatAnswer] = Future()
        recorded.add_done_callback(self._ended)
        with self._lock:
            self._running += 1
            self._queued += 1
            self._seated.append(partial(self._ask, job, recorded, on_text))
            first = len(self._seated) == 1
        if first:
            self._ledger.after(self._hand_over)
        return recorded

    @property
    def running(self) -> int:
        return self._running

    @property
    def queued(self) -> int:
        return self._queued

    def close(self) -> None:
        self._closed = True

    def _hand_over(self) -> None:
        """Have seats asked, after the panels that came meanwhile are written down: their callers wait for a first byte, and
        threads that ask would take the interpreter from them.
        """
        with self._lock:
            seats, self._seated = self._seated, []
        for ask in seats:
            # Where the system starts no more threads, those that there are will come to it: it is in their line by then.
            with suppress(RuntimeError):
                self._threads.submit(ask)

    def _ask(self, job: SeatJob, recorded: Future[SeatAnswer], on_text: OnText | None) -> None:
        with self._lock:
            self._queued -= 1
        # The seat's thread hands its answer over and is free: it does not wait for the row.
        record = partial(self._ledger.record, recorded=recorded)
        run_seat(job, self._keys, self._turnstile, record=record, on_text=on_text)

    def _ended(self, _: Future[SeatAnswer]) -> None:
        with self._lock:
            self._running -= 1
