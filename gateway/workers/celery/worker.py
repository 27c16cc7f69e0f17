"""What a worker does with a seat's errand: takes the seat, asks its provider, writes the answer down, sends it home.

In that order. A seat that is not this worker's to take is not asked: its job came twice, or too late.
"""

import base64
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import count

from django.conf import settings
from django.db import Error
from django.db.utils import InterfaceError, OperationalError
from django.utils import timezone
from redis import RedisError

from collections_app.roster import roster_keeper
from evidence.models import Process
from evidence.processes.here import this_process
from evidence.processes.interrupting import interrupt_held
from evidence.processes.taking import is_left_behind, take_calls
from evidence.processes.watch import LOOKS_EVERY_SECONDS
from gateway.reply import SeatAnswer
from gateway.telemetry.spans import send_what_is_left
from gateway.upstream import get_ready
from gateway.workers.celery.carrier import Carrier
from gateway.workers.celery.kinship import STRANGER, is_stranger
from gateway.workers.celery.message import Errand, UnknownMessageError, answer_as_dict, errand_from
from gateway.workers.celery.parcels import ParcelGoneError, unpacked
from gateway.workers.celery.sealed import SealError, unseal
from gateway.workers.celery.sender import USE
from gateway.workers.ended import Ended, unanswered
from gateway.workers.job import SeatJob
from gateway.workers.key_ring import KeyRing
from gateway.workers.ledger import Ledger, ledger
from gateway.workers.seat import OnText, run_seat
from gateway.workers.turnstile import Turnstile

logger = logging.getLogger(__name__)

# Seconds between attempts to take a seat while the database is away.
TRIES_AGAIN_AFTER = (0.5, 1.0, 2.0, 4.0, 8.0)
LAST_WORDS_SECONDS = 3.0
LEFT_BEHIND = (
    "this seat had been sent by a worker that is gone; it is not sent again, and whether its model answered is not known"
)
STOPPED = "the worker was stopped before this seat had answered"


class Takings:
    """Takes seats for a process, those of one moment in one transaction."""

    def __init__(self, ledger: Ledger, name: str) -> None:
        self._ledger = ledger
        self._name = name
        self._asked: list[tuple[str, Future[bool]]] = []
        self._lock = threading.Lock()

    def take(self, call: str) -> bool:
        """Whether the seat is this process's now. Raises OperationalError, InterfaceError."""
        taken: Future[bool] = Future()
        with self._lock:
            self._asked.append((call, taken))
            is_first = len(self._asked) == 1
        if is_first:
            self._ledger.run(self._take_all)
        return taken.result()

    def _take_all(self) -> None:
        with self._lock:
            asked, self._asked = self._asked, []
        try:
            # What calls will tell of their models is judged by the roster as it is now; nobody seats in this process.
            roster_keeper().current()
            taken = take_calls([call for call, _ in asked], by=self._name, at=timezone.now())
        except Exception as error:
            for _, future in asked:
                future.set_exception(error)
            raise
        for (_, future), is_ours in zip(asked, taken, strict=True):
            future.set_result(is_ours)


class SeatWorker:
    """One for the process; `ask` may be called in any number of threads."""

    def __init__(self) -> None:
        get_ready()
        self._ledger = ledger()
        self._keys = KeyRing(lambda read: self._ledger.run(read).result())
        self._turnstile = Turnstile(lambda reserve: self._ledger.run(reserve).result())
        self._carrier = Carrier()
        self._here = this_process()
        self._here.join(Process.Kind.WORKER)
        self._takings = Takings(self._ledger, self._here.name)
        threading.Thread(target=self._beat, name="worker-beat", daemon=True).start()

    def ask(self, document: str) -> None:
        """Do one errand. Raises nothing for one that cannot be done: its row says so, or will."""
        try:
            errand = errand_from(unseal(base64.b64decode(document), USE))
        except (SealError, UnknownMessageError, ValueError, TypeError) as error:
            logger.error("Refused a seat's job: %s", error)
            return leave_strangers()
        if self._took(errand.job.call):
            self._tell(errand, self._answer(errand))
        elif self._ledger.run(partial(is_left_behind, errand.job.call)).result():
            self._tell(errand, self._failed(errand.job, LEFT_BEHIND, "interrupted"))

    def stop(self, seconds: float) -> None:
        """Have what still runs after so many seconds recorded as interrupted, and end the process."""
        time.sleep(seconds)
        self._ledger.run_last(partial(interrupt_held, STOPPED, self._here.name)).result(LAST_WORDS_SECONDS)
        self.finish()
        os._exit(0)

    def finish(self) -> None:
        """Send the last answers home, and leave."""
        self._carrier.finish(LAST_WORDS_SECONDS)
        self._ledger.run(self._here.leave).result(LAST_WORDS_SECONDS)
        send_what_is_left()

    def _took(self, call: str) -> bool:
        for wait in (*TRIES_AGAIN_AFTER, None):
            try:
                return self._takings.take(call)
            except (OperationalError, InterfaceError):
                if wait is None:
                    # Untaken: whoever asked is told when its time in the queue is over.
                    raise
                time.sleep(wait)
        return False

    def _answer(self, errand: Errand) -> SeatAnswer:
        try:
            job = replace(errand.job, messages=unpacked(errand.parcel)) if errand.parcel else errand.job
        except (ParcelGoneError, SealError, RedisError) as error:
            why = str(error) if isinstance(error, ParcelGoneError | SealError) else "Redis is away"
            return self._failed(errand.job, f"this seat was not asked: {why}", "unavailable")
        recorded = run_seat(job, self._keys, self._turnstile, record=self._ledger.record, on_text=self._on_text(errand))
        return recorded.result()

    def _failed(self, job: SeatJob, why: str, kind: str) -> SeatAnswer:
        return self._ledger.record(Ended(answer=unanswered(job, why, kind))).result()

    def _on_text(self, errand: Errand) -> OnText | None:
        if not errand.wants_text:
            return None
        numbers = count()

        def carry(text: str) -> None:
            piece = {"call": errand.job.call, "number": next(numbers), "text": text}
            self._carrier.tell(errand.home, piece, at_once=False)

        return carry

    def _tell(self, errand: Errand, answer: SeatAnswer) -> None:
        self._carrier.tell(errand.home, {"call": answer.call, "answer": answer_as_dict(answer)}, at_once=True)

    def _beat(self) -> None:
        while True:
            try:
                self._ledger.run(self._here.beat).result()
            except Error as error:
                # Whatever it says: a worker that beat no more would be taken for gone with all that it asks.
                logger.warning("The database does not answer (%s)", type(error).__name__)
            time.sleep(LOOKS_EVERY_SECONDS)


def leave_strangers() -> None:
    """Stop, as a supervisor has it stop, where the queue is another bench's."""
    with suppress(RedisError, OSError):
        if is_stranger():
            logger.critical("%s. This worker stops", STRANGER)
            os.kill(os.getpid(), signal.SIGTERM)


@cache
def seat_worker() -> SeatWorker:
    """The process's own."""
    return SeatWorker()


def stop_in_time() -> None:
    """Give the seats of this process BENCH_DRAIN_SECONDS to end."""
    stop: Callable[[], None] = partial(seat_worker().stop, settings.BENCH_DRAIN_SECONDS)
    threading.Thread(target=stop, name="worker-stop", daemon=True).start()
