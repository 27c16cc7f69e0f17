"""Seats in threads: who waits to be written down comes before who is written down and waits to be asked."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, cast

import pytest

from gateway.reply import SeatAnswer
from gateway.upstream.sockets.connections import adapter
from gateway.workers import threads
from gateway.workers.ended import Ended
from gateway.workers.job import SeatJob
from gateway.workers.ledger import Ledger

ANSWER = SeatAnswer(call="p.member1", alias="fast", status="ok", answer="Yes.", seconds=0.1)
JOB = cast(SeatJob, None)


class Asked:
    """Takes the place of asking a seat: what happened, in order."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.any = threading.Event()

    def run_seat(self, *_: Any, record: Callable[[Ended], Any], on_text: Any) -> None:
        self.order.append("a seat of the first")
        self.any.set()
        record(Ended(answer=ANSWER))


class Noting(Ledger):
    """A ledger that takes what ended for written down."""

    def record(self, ended: Ended, recorded: Future[SeatAnswer] | None = None) -> Future[SeatAnswer]:
        assert recorded
        recorded.set_result(ended.answer)
        return recorded


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    ledger = Noting()
    monkeypatch.setattr(threads, "ledger", lambda: ledger)
    return ledger


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    asked = Asked()
    monkeypatch.setattr(threads, "run_seat", asked.run_seat)
    return asked


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    """Set at the end of a test: a thread that waits for it would outlive one that fails."""
    event = threading.Event()
    yield event
    event.set()


def test_panels_in_line_are_written_down_before_seats_are_asked(ledger: Ledger, asked: Asked, let_go: threading.Event) -> None:
    pool = threads.ThreadWorkerPool()

    def first() -> list[Future[SeatAnswer]]:
        let_go.wait()
        asked.order.append("the first panel")
        return [pool.submit(JOB), pool.submit(JOB)]

    def second() -> None:
        # Long enough for a thread that would ask already.
        asked.any.wait(0.2)
        asked.order.append("the second panel")

    seats = ledger.run(first)
    ledger.run(second)
    let_go.set()
    assert [seat.result(10) for seat in seats.result(10)] == [ANSWER, ANSWER]
    assert asked.order == ["the first panel", "the second panel", "a seat of the first", "a seat of the first"]


def test_seats_that_get_no_thread_of_their_own_are_asked_by_those_there_are(
    ledger: Ledger, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool = threads.ThreadWorkerPool()
    assert pool.submit(JOB).result(10) == ANSWER
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        seats = [pool.submit(JOB) for _ in range(5)]
    assert [seat.result(10) for seat in seats] == [ANSWER] * 5


def test_what_every_seat_needs_is_there_before_the_first(ledger: Ledger) -> None:
    adapter.cache_clear()
    threads.ThreadWorkerPool()
    assert adapter.cache_info().currsize == 1


def test_seats_count_from_when_they_are_submitted_until_they_are_recorded(
    ledger: Ledger, asked: Asked, let_go: threading.Event
) -> None:
    pool = threads.ThreadWorkerPool()
    ledger.run(let_go.wait)
    ledger.run(lambda: None)
    seat, told = pool.submit(JOB), threading.Event()
    seat.add_done_callback(lambda _: told.set())
    assert (pool.running, pool.queued, asked.order) == (1, 1, [])
    let_go.set()
    assert told.wait(10)
    assert (pool.running, pool.queued) == (0, 0)


def test_what_is_given_up_in_line_is_waited_for_by_no_seat(ledger: Ledger, asked: Asked, let_go: threading.Event) -> None:
    pool, busy = threads.ThreadWorkerPool(), threading.Event()
    ledger.run(lambda: (busy.set(), let_go.wait()))
    assert busy.wait(10)
    assert ledger.run(lambda: None).cancel()
    assert pool.submit(JOB).result(10) == ANSWER
    assert not let_go.is_set()


def test_a_seat_is_asked_at_once_where_nothing_is_in_line(ledger: Ledger, asked: Asked, let_go: threading.Event) -> None:
    pool, busy = threads.ThreadWorkerPool(), threading.Event()
    ledger.run(lambda: (busy.set(), let_go.wait()))
    assert busy.wait(10)
    assert pool.submit(JOB).result(10) == ANSWER
    assert not let_go.is_set()
