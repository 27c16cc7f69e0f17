"""The thread that holds to their rows the seats of which no word comes home, and knows how full the queue is.

The row is the truth: a lost message costs seconds. A seat whose job is lost is queued again: whoever takes it first asks.
One that no worker takes in time is taken here, so that none ever does.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import cast

from django.utils import timezone
from redis import RedisError

from evidence.processes.here import this_process
from evidence.processes.taking import Stand, has_workers, stand_of, take_call
from evidence.services import record_call
from gateway.chat import web_images
from gateway.workers.celery.app import SEATS
from gateway.workers.celery.kinship import is_stranger, show_kinship
from gateway.workers.celery.parcels import redis_client
from gateway.workers.celery.waiting import WaitingSeat, WaitingSeats
from gateway.workers.ended import answer_in
from gateway.workers.ledger import Ledger
from gateway.workers.seat import for_the_log
from gateway.workers.turnstile import LONGEST_WAIT

logger = logging.getLogger(__name__)

# How long a seat may wait for a worker, in seconds; and where there is none, for one to be started again. Whoever asked is
# told rather than kept.
LONGEST_QUEUED, LONGEST_UNATTENDED = 60.0, 30.0
# After its seat's time-out: for the worker to write the answer down, and to try again while the database is away.
GRACE = 45.0
LOOKS_EVERY = 1.0
# Seconds from which on a seat is looked up: most are told of before.
LOOKED_UP_AFTER = 2.0
# And after being queued, with nothing left in the queue: whoever had its job is gone with it, or hangs.
QUEUED_AGAIN_AFTER = 5.0
NOT_TAKEN = "no worker took this seat within {:g} seconds"
UNHEARD = "its worker was not heard of again; whether its model answered is not known"
QUEUE_AWAY = "the queue of seats cannot be reached or takes nothing, so this seat was not asked"


def deadline_of(seat: WaitingSeat) -> float:
    """Seconds after which nothing more is expected of a seat."""
    return LONGEST_QUEUED + LONGEST_WAIT + seat.job.target.seat_timeout + GRACE


class Overdue:
    """`queued` is how many seats of all processes wait for a worker, `untaken` how many of this process's do.

    `away`: the queue cannot be reached, or takes nothing; `unattended`: there is no worker; `stranger`: it is another
    bench's. All as they were a second ago.
    """

    def __init__(self, seats: WaitingSeats, ledger: Ledger, send_again: Callable[[WaitingSeat], None]) -> None:
        self._seats = seats
        self._ledger = ledger
        self._send_again = send_again
        self.queued = 0
        self.untaken = 0
        self.away = False
        self.unattended = False
        self.stranger = False
        threading.Thread(target=self._work, name="seats-overdue", daemon=True).start()

    def fail(self, seat: WaitingSeat, why: str) -> None:
        """End a seat that nobody has taken, so that nobody does any more; one that was taken is left to its worker."""
        self._ledger.run(partial(self._fail, seat, why))

    def _work(self) -> None:
        while True:
            self._look(self._measure)
            self._look(self._look_up)
            time.sleep(LOOKS_EVERY)

    def _look(self, look: Callable[[], None]) -> None:
        try:
            look()
        except Exception as error:  # noqa: BLE001
            # The thread's boundary: a database that is away now is there later, and its words are in the ledger's log.
            logger.warning("Seats that wait could not be looked up (%s)", type(error).__name__)

    def _measure(self) -> None:
        try:
            self.queued = cast(int, redis_client().llen(SEATS))
            self.stranger = is_stranger()
            if not self.stranger:
                # A Redis that is full, or a replica, tells all it has and takes nothing.
                show_kinship()
            self.away = False
        except (RedisError, OSError):
            self.away = True
        self.unattended = not self._ledger.run(has_workers).result()

    def _look_up(self) -> None:
        waiting = self._seats.older_than(LOOKED_UP_AFTER)
        self.untaken = 0
        if not waiting:
            return
        stand = self._ledger.run(partial(stand_of, waiting.keys())).result()
        self.untaken = len(stand.untaken)
        self._end(waiting, stand)
        longest = LONGEST_UNATTENDED if self.unattended else LONGEST_QUEUED
        for call in stand.untaken:
            if waiting[call].waited > longest:
                self.fail(waiting[call], NOT_TAKEN.format(longest))
        self._queue_again([waiting[call] for call in stand.untaken])
        for seat in waiting.values():
            if seat.waited > deadline_of(seat) and not seat.answer.done():
                self._ledger.run(partial(record_call, for_the_log(seat.failed(UNHEARD, "interrupted"))))

    def _queue_again(self, untaken: Iterable[WaitingSeat]) -> None:
        """Queue those whose jobs nobody has: neither the queue, nor a worker that would have taken them by now."""
        if self.away or self.unattended or self.queued:
            return
        for seat in untaken:
            if time.monotonic() - seat.sent > QUEUED_AGAIN_AFTER and not seat.answer.done():
                seat.sent = time.monotonic()
                self._send_again(seat)

    def _end(self, waiting: Mapping[str, WaitingSeat], stand: Stand) -> None:
        for row in stand.ended:
            seat = waiting[row.call_id]
            seat.end(replace(answer_in(row, row.call_id), image_urls=web_images(seat.job.messages)))

    def _fail(self, seat: WaitingSeat, why: str) -> None:
        answer = seat.failed(why, "unavailable")
        if take_call(seat.job.call, by=this_process().name, at=timezone.now()):
            record_call(for_the_log(answer))
            seat.end(answer)
