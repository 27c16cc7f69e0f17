"""Queueing seats, in a thread of its own: neither the event loop nor the ledger waits for a broker that is away.

Tries for a few seconds; then the seat has failed, and everything queued behind it in that time too.
"""

import base64
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue

from kombu.exceptions import KombuError
from redis import RedisError

from gateway.chat import Message
from gateway.workers.celery.app import ASK_SEAT, SEATS, seat_app
from gateway.workers.celery.message import Errand, errand_as_bytes
from gateway.workers.celery.parcels import Parcels
from gateway.workers.celery.sealed import seal

logger = logging.getLogger(__name__)

USE = "errand"
# Seconds for which a broker may be away before a seat fails for it: a restart takes less.
GIVES_UP_AFTER = 5.0
TRIES_AGAIN_AFTER = 0.25
# What Celery tells of a task, in logs and to whoever inspects a worker, instead of its arguments.
UNTOLD = "(sealed)"
_AWAY = (KombuError, RedisError, OSError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A seat's errand to be queued; `failed` is called in the sender's thread when it cannot be.

    `seconds`: how long it is of use. `again`: what was sent of it may be lost.
    """

    errand: Callable[[str], Errand]
    call: str
    messages: tuple[Message, ...]
    seconds: float
    failed: Callable[[], None]
    again: bool = False
    since: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Done:
    """A seat that was queued and has ended: it needs its messages no more."""

    call: str
    messages: tuple[Message, ...]


class Sender:
    def __init__(self) -> None:
        self._queue: SimpleQueue[Queued | Done] = SimpleQueue()
        self._parcels = Parcels()
        # A daemon: a process that ends does not wait for a broker.
        threading.Thread(target=self._work, name="seats-sender", daemon=True).start()

    def send(self, queued: Queued) -> None:
        """Queue a seat as soon as its turn comes."""
        self._queue.put(queued)

    def done(self, done: Done) -> None:
        """Hear of a seat that has ended, once for each time that it was sent, and after it."""
        self._queue.put(done)

    def _work(self) -> None:
        while True:
            item = self._queue.get()
            try:
                self._let_go(item) if isinstance(item, Done) else self._send(item)
            except Exception:
                # The thread's boundary: one seat that cannot be sent must not keep every later one from it.
                logger.exception("A seat could not be queued")
                if isinstance(item, Queued):
                    item.failed()

    def _let_go(self, done: Done) -> None:
        with suppress(*_AWAY):
            self._parcels.let_go(done.messages, done.call)

    def _send(self, queued: Queued) -> None:
        gives_up = queued.since + GIVES_UP_AFTER
        lost = queued.again
        while time.monotonic() < gives_up:
            try:
                self._publish(queued, anew=lost)
            except _AWAY as error:
                logger.warning("The queue of seats cannot be reached (%s)", type(error).__name__)
                # It may come back with nothing in it.
                lost = True
                time.sleep(TRIES_AGAIN_AFTER)
            else:
                return
        queued.failed()

    def _publish(self, queued: Queued, *, anew: bool) -> None:
        parcel = self._parcels.hold(queued.messages, queued.call, queued.seconds, anew=anew)
        sealed = seal(errand_as_bytes(queued.errand(parcel)), USE)
        seat_app.send_task(
            ASK_SEAT,
            args=[base64.b64encode(sealed).decode()],
            queue=SEATS,
            # Without Celery's time of expiry, which another machine's clock would judge: of a job that comes too late
            # the seat's row says so.
            retry=False,
            argsrepr=UNTOLD,
            kwargsrepr=UNTOLD,
        )
