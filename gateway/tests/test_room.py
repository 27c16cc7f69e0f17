"""Room for seats is given once, however many panels are written down at the same time."""

import pytest

from gateway import workers
from gateway.errors import Unavailable
from gateway.workers import Room


class Pool:
    """Has room for four seats."""

    running = 0

    def admit(self, seats: int) -> None:
        if self.running + seats > 4:
            raise Unavailable("full")


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    pool = Pool()
    monkeypatch.setattr(workers, "worker_pool", lambda: pool)
    return pool


def ask(pool: Pool, seats: int) -> tuple:
    pool.running += seats
    return ("asked",) * seats


def test_a_panel_that_is_written_down_keeps_others_from_its_room(pool: Pool) -> None:
    room = Room()
    with room.for_seats(3) as take:
        with pytest.raises(Unavailable), room.for_seats(2):
            pass
        with room.for_seats(1) as take_one:
            assert take_one(lambda: ask(pool, 1)) == ("asked",)
        assert take(lambda: ask(pool, 3)) == ("asked",) * 3
    with pytest.raises(Unavailable), room.for_seats(1):
        pass
    pool.running = 0
    with room.for_seats(4):
        pass


def test_a_panel_that_cannot_be_written_down_leaves_its_room(pool: Pool) -> None:
    room = Room()
    with pytest.raises(ZeroDivisionError), room.for_seats(4):
        raise ZeroDivisionError
    with room.for_seats(4) as take:
        assert len(take(lambda: ask(pool, 4))) == 4
