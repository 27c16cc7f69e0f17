"""Seats that this process waits for, and their ends by the call log, where another process has ended them.

A process that hung for too long is taken for gone, and its seats are ended by others: when it goes on, its callers are told
what everybody else was. A seat that is not taken here ends at once.
"""

import logging
from collections.abc import Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import cache

from evidence.models import Call
from evidence.processes.here import this_process
from evidence.selectors.progress import ended_among
from gateway.reply import SeatAnswer
from gateway.workers import worker_pool
from gateway.workers.ended import Ended, answer_in, unanswered
from gateway.workers.job import SeatJob
from gateway.workers.ledger import ledger
from gateway.workers.seat import OnText

logger = logging.getLogger(__name__)

NOT_TAKEN = "the gateway failed before it asked; its log says why"


class AwaitedSeats:
    """By call id. Keeps none where the bench has one process: nobody else ends its seats."""

    def __init__(self) -> None:
        self._waiting: dict[str, Future[SeatAnswer]] = {}

    def ask(self, job: SeatJob, on_text: OnText | None = None) -> Future[SeatAnswer]:
        """Have the worker pool ask one seat. A seat that it does not take has ended, and says so."""
        try:
            answer = worker_pool().submit(job, on_text)
        except Exception:
            # Its row is written down by now, and nobody else would end that while this process lives.
            logger.exception("Seat %s could not be handed to the worker pool", job.call)
            answer = ledger().record(Ended(answer=unanswered(job, NOT_TAKEN, "unavailable")))
        if this_process().name:
            self._waiting[job.call] = answer
            answer.add_done_callback(lambda _: self._waiting.pop(job.call, None))
        return answer

    def ended_elsewhere(self) -> list[Call]:
        """Those of them that have ended by the log. Where the database may be touched; no query when none is awaited."""
        calls = list(self._waiting)
        return ended_among(calls) if calls else []

    def end(self, ended: Iterable[Call]) -> None:
        """Tell whoever waits here how these ended, unless they have heard."""
        for call in ended:
            answer = self._waiting.get(call.call_id)
            if answer is not None:
                with suppress(InvalidStateError):
                    answer.set_result(answer_in(call, call.call_id))


@cache
def awaited_seats() -> AwaitedSeats:
    """The process's own."""
    return AwaitedSeats()
