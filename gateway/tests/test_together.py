"""Work that waits in line shares a transaction: all of it is committed before anybody is told, and nobody pays for another."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection, connections, transaction

from evidence.models import Call
from evidence.tests.rows import make_panel
from gateway.workers.ledger import Ledger, Turn

pytestmark = pytest.mark.django_db(transaction=True)
MOST = 4


class Line:
    """A ledger that is kept busy until what stands in line for it is `done`."""

    def __init__(self) -> None:
        self.ledger = Ledger(1, MOST)
        self.let_go = threading.Event()
        self.ledger.run(self.let_go.wait)

    def add(self, work: Callable[[Turn], Any], then: Callable[[Any], Any] = lambda written: written) -> Future[Any]:
        return self.ledger.run_together(work, then)

    def done(self, *pieces: Future[Any]) -> list[Any]:
        """What each came to: its result, or the kind of its error."""
        self.let_go.set()
        return [type(error) if (error := piece.exception(10)) else piece.result() for piece in pieces]


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    line.let_go.set()
    line.ledger.run(connections.close_all).result(10)


def shared(_: Turn) -> bool:
    return connection.in_atomic_block


def written(alias: str, _: Turn) -> str:
    return make_panel(("member1", alias)).panel_id


def aliases() -> list[str]:
    return sorted(Call.objects.values_list("alias", flat=True))


def test_a_turn_takes_so_many_and_they_are_told_when_it_is_committed(line: Line) -> None:
    pieces = [line.add(shared, lambda in_one: (in_one, connection.in_atomic_block)) for _ in range(MOST + 1)]
    assert line.done(*pieces) == [(True, False)] * MOST + [(False, False)]


def test_what_a_turn_reads_is_read_once(line: Line) -> None:
    reads: list[int] = []

    def read() -> int:
        reads.append(1)
        return len(reads)

    pieces = [line.add(lambda turn: turn.once(read)) for _ in range(MOST + 2)]
    assert line.done(*pieces) == [1] * MOST + [2] * 2


def test_who_is_turned_away_takes_nothing_from_others(line: Line) -> None:
    def refused(_: Turn) -> None:
        raise ValueError("no such collection")

    pieces = [line.add(partial(written, "first")), line.add(refused), line.add(partial(written, "third"))]
    told = line.done(*pieces)
    assert told[1] is ValueError
    assert aliases() == ["first", "third"]


def test_what_is_done_afterwards_may_fail_alone(line: Line) -> None:
    def fails(_: str) -> None:
        raise ValueError("no workers")

    pieces = [line.add(partial(written, "first"), fails), line.add(partial(written, "second"), len)]
    assert line.done(*pieces) == [ValueError, len("p20260102-150405-7f3a")]
    assert aliases() == ["first", "second"]


def breaks_it(_: Turn) -> None:
    """A row of the same key as another, outside any savepoint."""
    panel = make_panel(("member1", "twice"))
    with transaction.atomic(savepoint=False):
        Call.objects.bulk_create([Call(panel=panel, seat_name="member1", alias="again", asked_at=panel.asked_at)])


def leads_nowhere(_: Turn) -> None:
    """A row of a panel that is not there, which a database sees when it commits."""
    with transaction.atomic(savepoint=False):
        asked_at = make_panel().asked_at
        Call.objects.bulk_create([Call(panel_id=10**6, seat_name="member1", alias="astray", asked_at=asked_at)])


@pytest.mark.parametrize("wrong", [breaks_it, leads_nowhere])
def test_one_that_spoils_the_transaction_is_told_and_others_are_done_again(line: Line, wrong: Callable[[Turn], None]) -> None:
    afterwards: list[str] = []
    pieces = [
        line.add(partial(written, "first"), afterwards.append),
        line.add(wrong),
        line.add(partial(written, "third"), afterwards.append),
    ]
    assert line.done(*pieces) == [None, IntegrityError, None]
    assert [alias for alias in aliases() if alias in ("first", "third")] == ["first", "third"]
    assert len(afterwards) == len(set(afterwards)) == 2


def test_a_database_that_is_away_is_told_to_all_at_once_and_nothing_is_written(line: Line) -> None:
    begun: list[int] = []

    def away(_: Turn) -> None:
        begun.append(1)
        raise OperationalError("disk I/O error")

    pieces = [line.add(partial(written, "first")), line.add(away), line.add(partial(written, "third"))]
    assert line.done(*pieces) == [OperationalError] * 3
    assert (aliases(), len(begun)) == ([], 1)
    assert line.done(line.add(partial(written, "later"), len)) == [len("p20260102-150405-7f3a")]


def test_who_gives_up_in_line_is_passed_over_and_stands_in_it_no_more(line: Line) -> None:
    pieces = [line.add(partial(written, alias)) for alias in ("first", "second")]
    assert pieces[0].cancel()
    line.done(pieces[1])
    assert aliases() == ["second"]
    at_once = threading.current_thread()
    told: list[threading.Thread] = []
    # Once nobody is in line, who comes is served by his own thread.
    line.ledger.run(lambda: None).result(10)
    line.ledger.after(lambda: told.append(threading.current_thread()))
    assert told == [at_once]
