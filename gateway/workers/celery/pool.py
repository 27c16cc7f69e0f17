"""Seats asked by workers on any machine: queued in Redis, their answers awaited here.

Holds no connection to the database, and no thread, for a seat that is being asked.
"""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from gateway.conf import conf
from gateway.errors import Unavailable
from gateway.reply import SeatAnswer
from gateway.workers.celery.kinship import STRANGER
from gateway.workers.celery.listener import Listener
from gateway.workers.celery.message import Errand
from gateway.workers.celery.overdue import QUEUE_AWAY, Overdue, deadline_of
from gateway.workers.celery.sender import Done, Queued, Sender
from gateway.workers.celery.waiting import WaitingSeat, WaitingSeats
from gateway.workers.job import SeatJob
from gateway.workers.ledger import ledger
from gateway.workers.seat import OnText
from gateway.workers.threads import FULL_WAIT_SECONDS, QUEUED_PER_WORKER


class CeleryWorkerPool:
    asks_here = False

    def __init__(self) -> None:
        # Of this process's own seats, for the sake of its memory; and of everybody's that wait for a worker.
        self._capacity = conf.seat_workers * (1 + QUEUED_PER_WORKER)
        self._queue_capacity = conf.seat_workers * QUEUED_PER_WORKER
        self._seats = WaitingSeats()
        self._listener = Listener(self._seats.take)
        self._sender = Sender()
        self._overdue = Overdue(self._seats, ledger(), self._send_again)
        self._closed = False

    def admit(self, seats: int) -> None:
        why = self._why_not(seats)
        if why:
            raise Unavailable(why, wait=FULL_WAIT_SECONDS)

    def submit(self, job: SeatJob, on_text: OnText | None = None) -> Future[SeatAnswer]:
        seat = WaitingSeat(job, on_text)
        self._seats.add(seat)
        self._send(seat, failed=partial(self._overdue.fail, seat, QUEUE_AWAY))
        return seat.answer

    @property
    def running(self) -> int:
        return len(self._seats)

    @property
    def queued(self) -> int:
        return self._overdue.untaken

    def close(self) -> None:
        self._closed = True

    def _send(self, seat: WaitingSeat, *, failed: Callable[[], None], again: bool = False) -> None:
        job, seconds = seat.job, deadline_of(seat)
        errand = partial(self._errand, job, seat.on_text is not None)
        self._sender.send(
            Queued(errand=errand, call=job.call, messages=job.messages, seconds=seconds, failed=failed, again=again)
        )
        # Each time, and after it is queued: a seat may have ended while its job was queued again.
        seat.answer.add_done_callback(lambda _: self._sender.done(Done(job.call, job.messages)))

    def _send_again(self, seat: WaitingSeat) -> None:
        # A queue that is away again by now has this tried again, and takes the seat nothing of its time.
        self._send(seat, failed=lambda: None, again=True)

    def _errand(self, job: SeatJob, wants_text: bool, parcel: str) -> Errand:
        return Errand(job=job, home=self._listener.home, wants_text=wants_text, parcel=parcel)

    def _why_not(self, seats: int) -> str:
        again = f"Try again in {FULL_WAIT_SECONDS} seconds"
        if self._closed:
            return "The server is stopping and takes no new panels. Try again in a moment."
        if self._overdue.away:
            return f"The queue of seats (REDIS_URL) cannot be reached or takes nothing. {again}."
        if self._overdue.stranger:
            return f"{STRANGER}."
        if self._overdue.unattended:
            return f"No worker is there to ask anybody: `celery -A benchsite worker` starts one. {again}."
        running, queued = len(self._seats), self._overdue.queued
        if running + seats > self._capacity:
            return f"Every seat is taken: {running} of this process's are answering or waiting. {again}."
        if queued + seats > self._queue_capacity:
            return f"Every worker is busy, and {queued} seats wait for one. {again}, or start more workers."
        return ""
