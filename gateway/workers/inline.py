"""Seats answered at once, in place, in the caller's thread: for tests and for a shell."""

from concurrent.futures import Future

from evidence.services import record_call
from gateway.reply import SeatAnswer
from gateway.workers.ended import Ended, follow_up
from gateway.workers.job import SeatJob
from gateway.workers.key_ring import KeyRing
from gateway.workers.seat import OnText, for_the_log, run_seat
from gateway.workers.turnstile import Turnstile


class InlineWorkerPool:
    asks_here = True
    running = 0
    queued = 0

    def __init__(self) -> None:
        self._keys = KeyRing(lambda read: read())
        self._turnstile = Turnstile(lambda reserve: reserve())

    def admit(self, seats: int) -> None:
        """There is always room: a seat is answered before the next is asked."""

    def submit(self, job: SeatJob, on_text: OnText | None = None) -> Future[SeatAnswer]:
        recorded: Future[SeatAnswer] = Future()
        recorded.set_result(run_seat(job, self._keys, self._turnstile, record=_record, on_text=on_text))
        return recorded

    def close(self) -> None:
        """Nothing is ever left running."""


def _record(ended: Ended) -> SeatAnswer:
    record_call(for_the_log(ended.answer))
    follow_up([ended])
    return ended.answer
