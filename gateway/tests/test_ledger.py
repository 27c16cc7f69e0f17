"""Ended seats are written down, whatever stands in the way: a database that is away, one seat that cannot be, a lost turn."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest
from django.db import OperationalError

from gateway.reply import SeatAnswer
from gateway.workers.ended import Ended
from gateway.workers.ledger import Ledger, endings
from gateway.workers.ledger.desks import LOST_TURN


class Log:
    """Takes the place of the call log: what was written, in which batches; `fails` may raise for a batch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.batches: list[list[str]] = []
        self.tries = 0
        self.fails: Callable[[list[str]], None] = lambda _: None
        monkeypatch.setattr(endings, "record_calls", self._record)
        monkeypatch.setattr(endings, "follow_up", lambda _: None)
        monkeypatch.setattr(endings, "TRIES_AGAIN_AFTER", (0.02,))

    def _record(self, answers: Sequence[SeatAnswer]) -> dict:
        calls = [answer.call for answer in answers]
        self.tries += 1
        self.fails(calls)
        self.batches.append(calls)
        return {}


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    return Log(monkeypatch)


@pytest.fixture
def kept_busy():
    """A ledger of one thread, which works on something until it is let go."""
    ledger, let_go = Ledger(), threading.Event()
    busy = ledger.run(let_go.wait)
    yield ledger, let_go
    let_go.set()
    busy.result(10)


def seat(call: str) -> Ended:
    return Ended(answer=SeatAnswer(call=call, alias="fast", status="ok", answer="Yes.", seconds=0.1))


def away(_: list[str]) -> None:
    raise OperationalError("connection refused")


def test_a_seat_that_others_end_while_it_is_written_stops_no_other(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, written = Ledger(), threading.Event()
    log.fails = lambda _: written.wait(10) and None
    first = ledger.record(seat("p.member1"))
    # As it looks to whoever asks a moment before.
    monkeypatch.setattr(first, "done", lambda: False)
    first.set_result(replace(seat("p.member1").answer, error="interrupted"))
    written.set()
    assert ledger.record(seat("p.member2")).result(10).answer == "Yes."
    assert ledger.record(seat("p.member3")).result(10).answer == "Yes."
    assert first.result(0).error == "interrupted"


def test_seats_that_end_while_it_is_busy_share_a_batch(log: Log, kept_busy) -> None:
    ledger, let_go = kept_busy
    recorded = [ledger.record(seat(f"p.member{number}")) for number in range(5)]
    let_go.set()
    assert [one.result(10).error for one in recorded] == [""] * 5
    assert log.batches == [[f"p.member{number}" for number in range(5)]]


def test_a_batch_has_its_most(log: Log, kept_busy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endings, "AT_ONCE", 3)
    ledger, let_go = kept_busy
    recorded = [ledger.record(seat(f"p.member{number}")) for number in range(7)]
    let_go.set()
    for one in recorded:
        one.result(10)
    assert [len(batch) for batch in log.batches] == [3, 3, 1]


def that_has_just_written(monkeypatch: pytest.MonkeyPatch, gathers: float) -> Ledger:
    """A ledger whose first seat is written, and which gives the next so many seconds to gather."""
    monkeypatch.setattr(endings, "GATHER_SECONDS", gathers)
    ledger = Ledger()
    ledger.record(seat("p.member1")).result(10)
    return ledger


def test_seats_that_end_one_soon_after_another_share_a_batch(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = that_has_just_written(monkeypatch, gathers=0.5)
    second = ledger.record(seat("p.member2"))
    time.sleep(0.05)
    third = ledger.record(seat("p.member3"))
    assert [one.result(10).error for one in (second, third)] == ["", ""]
    assert log.batches == [["p.member1"], ["p.member2", "p.member3"]]


def test_nobody_in_line_waits_for_seats_to_gather(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = that_has_just_written(monkeypatch, gathers=60.0)
    second = ledger.record(seat("p.member2"))
    time.sleep(0.05)
    assert not second.done()
    assert ledger.run(lambda: "at once").result(10) == "at once"
    monkeypatch.setattr(endings, "GATHER_SECONDS", 0.0)
    ledger.run(lambda: None).result(10)
    assert second.result(10).error == ""


def test_seats_gather_on_while_who_is_in_line_is_served(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = that_has_just_written(monkeypatch, gathers=60.0)
    second = ledger.record(seat("p.member2"))
    served = [ledger.run(partial(time.sleep, 0.01)) for _ in range(5)]
    third = ledger.record(seat("p.member3"))
    for one in served:
        one.result(10)
    assert not second.done()
    monkeypatch.setattr(endings, "GATHER_SECONDS", 0.0)
    ledger.run(lambda: None).result(10)
    assert [one.result(10).error for one in (second, third)] == ["", ""]
    assert log.batches == [["p.member1"], ["p.member2", "p.member3"]]


def test_the_more_seats_ended_together_the_longer_the_next_gather(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endings, "GATHER_SECONDS_A_SEAT", 40.0)
    monkeypatch.setattr(endings, "GATHER_AT_MOST_SECONDS", 0.3)
    began = time.monotonic()
    ledger = that_has_just_written(monkeypatch, gathers=0.0)
    second, third = ledger.record(seat("p.member2")), ledger.record(seat("p.member3"))
    assert [one.result(10).error for one in (second, third)] == ["", ""]
    assert time.monotonic() - began >= 0.3
    assert log.batches == [["p.member1"], ["p.member2", "p.member3"]]


def test_seats_to_hand_over_wait_for_none_to_gather(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, handed_over = that_has_just_written(monkeypatch, gathers=60.0), threading.Event()

    def ask(_: None) -> None:
        ledger.record(seat("p.member2"))
        ledger.after(handed_over.set)

    ledger.run_together(lambda _: None, ask).result(10)
    assert handed_over.wait(10)


def test_a_database_that_is_away_is_tried_until_it_is_back_and_holds_up_no_other_work(log: Log) -> None:
    ledger, log.fails = Ledger(), away
    recorded = [ledger.record(seat(f"p.member{number}")) for number in range(3)]
    while log.tries < 4:
        assert ledger.run(lambda: "at once").result(10) == "at once"
    assert not any(one.done() for one in recorded)
    log.fails = lambda _: None
    assert [one.result(10).error for one in recorded] == [""] * 3
    assert sorted(call for batch in log.batches for call in batch) == [f"p.member{number}" for number in range(3)]


def test_a_caller_is_told_its_answer_in_time_and_it_is_written_all_the_same(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endings, "TOLD_AFTER_SECONDS", 0.05)
    ledger, log.fails = Ledger(), away
    told = ledger.record(seat("p.member1")).result(10)
    assert (told.answer, "not in the call log" in told.error) == ("Yes.", True)
    assert not log.batches
    log.fails = lambda _: None
    ledger.record(seat("p.member2")).result(10)
    ledger.run_last(lambda: None).result(10)
    assert sorted(call for batch in log.batches for call in batch) == ["p.member1", "p.member2"]


def test_one_seat_that_cannot_be_written_costs_no_other(log: Log, kept_busy) -> None:
    def cannot(calls: list[str]) -> None:
        if "p.member2" in calls:
            raise ValueError("no column holds this")

    ledger, let_go = kept_busy
    log.fails = cannot
    recorded = [ledger.record(seat(f"p.member{number}")) for number in (1, 2, 3)]
    let_go.set()
    assert [one.result(10).error == "" for one in recorded] == [True, False, True]
    assert log.batches == [["p.member1"], ["p.member3"]]


def test_whatever_is_done_last_finds_what_had_ended_written(log: Log) -> None:
    ledger, log.fails = Ledger(), away
    recorded = ledger.record(seat("p.member1"))
    while not log.tries:
        pass
    log.fails = lambda _: None
    assert ledger.run_last(lambda: list(log.batches)).result(10) == [["p.member1"]]
    assert recorded.result(10).error == ""


@pytest.mark.parametrize("sqlstate", LOST_TURN)
def test_a_transaction_that_gave_way_to_another_is_done_again(sqlstate: str) -> None:
    class GaveWayError(Exception):
        pass

    GaveWayError.sqlstate = sqlstate  # type: ignore[attr-defined]
    tries = []

    def work() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("deadlock detected") from GaveWayError()
        return "done"

    assert Ledger().run(work).result(10) == "done"
    assert len(tries) == 3
