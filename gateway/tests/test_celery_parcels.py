"""Large messages lie in Redis once for all seats of a panel, for as long as one of them may need them."""

import pytest

from gateway.chat import Message, TextPart
from gateway.workers.celery import parcels
from gateway.workers.celery.parcels import LARGEST_IN_MESSAGE, ParcelGoneError, Parcels, unpacked

SECONDS = 60.0


class RedisOfOne(dict):
    """A Redis as far as parcels use it."""

    def set(self, key, value, *, ex):
        self[key] = value

    def delete(self, key):
        self.pop(key, None)


@pytest.fixture
def redis(monkeypatch):
    held = RedisOfOne()
    monkeypatch.setattr(parcels, "redis_client", lambda: held)
    return held


@pytest.fixture
def messages():
    return (Message("user", (TextPart("x" * (LARGEST_IN_MESSAGE + 1)),)),)


def test_the_seats_of_a_panel_share_one(redis, messages):
    sent = Parcels()
    first, second = (sent.hold(messages, call, SECONDS) for call in ("p.member1", "p.member2"))
    assert first == second
    assert unpacked(first) == messages
    sent.let_go(messages, "p.member1")
    assert unpacked(first) == messages
    sent.let_go(messages, "p.member2")
    with pytest.raises(ParcelGoneError):
        unpacked(first)


def test_a_seat_that_is_queued_again_or_tells_twice_takes_it_from_no_other(redis, messages):
    sent = Parcels()
    for call in ("p.member1", "p.member2", "p.member1"):
        key = sent.hold(messages, call, SECONDS)
    for _ in range(3):
        sent.let_go(messages, "p.member1")
    assert unpacked(key) == messages
    sent.let_go(messages, "p.member2")
    assert not redis


def test_one_that_redis_has_lost_is_there_again_under_its_key(redis, messages):
    sent = Parcels()
    key = sent.hold(messages, "p.member1", SECONDS)
    redis.clear()
    assert sent.hold(messages, "p.member1", SECONDS, anew=True) == key
    assert unpacked(key) == messages
