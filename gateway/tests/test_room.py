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
    with room.for_a_panel() as first, room.for_a_panel() as second:
        first.keep(3)
        with pytest.raises(Unavailable):
            second.keep(2)
        second.keep(1)
        assert second.take(lambda: ask(pool, 1)) == ("asked",)
        assert first.take(lambda: ask(pool, 3)) == ("asked",) * 3
    with room.for_a_panel() as third:
        with pytest.raises(Unavailable):
            third.keep(1)
        pool.running = 0
        third.keep(4)


def test_a_panel_that_cannot_be_written_down_leaves_its_room(pool: Pool) -> None:
    room = Room()
    with pytest.raises(ZeroDivisionError), room.for_a_panel() as kept:
        kept.keep(4)
        raise ZeroDivisionError
    with room.for_a_panel() as kept:
        kept.keep(4)
        assert len(kept.take(lambda: ask(pool, 4))) == 4


def test_a_panel_that_is_written_down_again_keeps_its_room_once(pool: Pool) -> None:
    room = Room()
    with room.for_a_panel() as kept:
        kept.keep(4)
        kept.keep(3)
        with room.for_a_panel() as other:
            other.keep(1)
