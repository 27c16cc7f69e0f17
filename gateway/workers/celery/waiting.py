"""The seats that this process has had asked, by call: each a Future, and whom its text is for.

Endings and text are taken as they come, from any thread; the first ending counts.
"""

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from gateway.chat import web_images
from gateway.reply import SeatAnswer
from gateway.workers.celery.message import answer_from
from gateway.workers.ended import unanswered
from gateway.workers.job import SeatJob
from gateway.workers.seat import OnText


@dataclass(slots=True, eq=False)
class WaitingSeat:
    """`since` is by time.monotonic, and so is `sent`: when it was last queued."""

    job: SeatJob
    on_text: OnText | None = None
    answer: Future[SeatAnswer] = field(default_factory=Future)
    since: float = field(default_factory=time.monotonic)
    sent: float = field(default_factory=time.monotonic)
    _next: int = 0
    _early: dict[int, str] = field(default_factory=dict)

    @property
    def waited(self) -> float:
        return time.monotonic() - self.since

    def write(self, number: int, text: str) -> None:
        """Pass a piece of text on in its turn. What a lost piece holds up is never passed on: the ending has all of it."""
        if self.on_text is None or self.answer.done():
            return
        self._early[number] = text
        while (piece := self._early.pop(self._next, None)) is not None:
            self._next += 1
            self.on_text(piece)

    def end(self, answer: SeatAnswer) -> None:
        """Resolve the Future, unless it is."""
        with suppress(InvalidStateError):
            self.answer.set_result(answer)

    def failed(self, why: str, kind: str) -> SeatAnswer:
        """The answer of this seat when nobody asked it, or nobody knows what came of it."""
        return unanswered(self.job, why, kind, self.waited)


class WaitingSeats:
    def __init__(self) -> None:
        self._seats: dict[str, WaitingSeat] = {}
        self._lock = threading.Lock()

    def add(self, seat: WaitingSeat) -> None:
        with self._lock:
            self._seats[seat.job.call] = seat
        # Also when somebody else ends it, as a stop does.
        seat.answer.add_done_callback(lambda _: self._drop(seat))

    def older_than(self, seconds: float) -> dict[str, WaitingSeat]:
        """Those that have waited longer, by call."""
        with self._lock:
            return {call: seat for call, seat in self._seats.items() if seat.waited > seconds}

    def take(self, news: Mapping[str, Any]) -> None:
        """Take one item that came home: a piece of text, or an ending. Raises UnknownMessageError."""
        seat = self._seats.get(str(news["call"]))
        if seat is None:
            return
        if "text" in news:
            seat.write(int(news["number"]), str(news["text"]))
        else:
            seat.end(answer_from(news["answer"], web_images(seat.job.messages)))

    def __len__(self) -> int:
        return len(self._seats)

    def _drop(self, seat: WaitingSeat) -> None:
        with self._lock:
            self._seats.pop(seat.job.call, None)
