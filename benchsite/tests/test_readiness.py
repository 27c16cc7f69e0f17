"""/readyz says what is not ready, soon and without a secret; /healthz says that the process lives, whatever else does not."""

import threading
import time
from urllib.parse import urlsplit

import pytest
from django.db import OperationalError
from django.test import Client, override_settings

from benchsite.observing import readiness
from benchsite.observing.look import Look
from gateway.errors import Unavailable
from gateway.tests.celery_bench import OwnRedis, needs_redis
from gateway.tests.running_server import free_port

ALL_WELL = {"database": "ok", "migrations": "ok", "seats": "ok"}


@pytest.fixture(autouse=True)
def fresh_looks():
    readiness._looks.cache_clear()
    yield
    readiness._looks.cache_clear()


@pytest.fixture
def ask(transactional_db):
    """Asks a path; returns the status, the body and the seconds that it took."""

    def asked(path="/readyz"):
        began = time.monotonic()
        reply = Client().get(path)
        return reply.status_code, reply.json(), time.monotonic() - began

    return asked


def test_it_is_ready_when_a_panel_would_be_taken(ask):
    assert ask()[:2] == (200, {"status": "ok", "checks": ALL_WELL})


def test_a_database_that_is_away_is_named(ask, monkeypatch):
    monkeypatch.setattr(
        readiness.MigrationRecorder, "applied_migrations", raising(OperationalError("at 10.0.0.7, secret quokka"))
    )
    status, told, _ = ask()
    assert (status, told["status"]) == (503, "not ready")
    assert told["checks"] == ALL_WELL | {"database": "does not answer", "migrations": "not known"}
    assert told["why"] == "database: does not answer; migrations: not known"
    assert ask("/healthz")[:2] == (200, {"status": "ok"})


def test_migrations_that_are_missing_are_counted(ask, monkeypatch):
    every = readiness._migrations()
    monkeypatch.setattr(readiness, "_migrations", lambda: every | {("evidence", "9998_later"), ("evidence", "9999_later")})
    status, told, _ = ask()
    assert (status, told["checks"]["migrations"]) == (503, "2 missing: run manage.py migrate")
    assert told["checks"]["database"] == "ok"


def test_a_database_that_hangs_is_not_waited_for_and_asked_once(ask, monkeypatch):
    released, asked = threading.Event(), []

    def hang(_):
        asked.append(1)
        released.wait(30)
        return {}

    monkeypatch.setattr(readiness, "PATIENCE", 0.3)
    monkeypatch.setattr(readiness.MigrationRecorder, "applied_migrations", hang)
    try:
        for _ in range(3):
            status, told, seconds = ask()
            assert (status, told["checks"]["database"]) == (503, "no answer in 0.3 seconds")
            assert seconds >= 0.3
        assert asked == [1]
    finally:
        released.set()


def test_whatever_else_is_wrong_is_said_by_its_class(ask, monkeypatch):
    monkeypatch.setattr(readiness.MigrationRecorder, "applied_migrations", raising(RuntimeError("password quokka")))
    status, told, _ = ask()
    assert (status, told["checks"]["database"]) == (503, "cannot be looked at (RuntimeError)")
    assert "quokka" not in str(told)


def test_a_server_that_stops_or_is_full_says_so(ask, monkeypatch):
    monkeypatch.setattr(readiness.worker_pool(), "admit", raising(Unavailable("The server is stopping.", wait=1)))
    assert ask()[:2] == (
        503,
        {
            "status": "not ready",
            "why": "seats: The server is stopping.",
            "checks": ALL_WELL | {"seats": "The server is stopping."},
        },
    )


@pytest.fixture
def redis(tmp_path):
    """A Redis of its own, named by the settings."""
    own = OwnRedis(tmp_path)
    own.start()
    with override_settings(REDIS_URL=own.url):
        yield own
    own.stop()


@needs_redis
def test_redis_counts_where_one_is_named(ask, redis):
    assert ask()[:2] == (200, {"status": "ok", "checks": ALL_WELL | {"redis": "ok"}})
    redis.stop()
    assert ask()[0] == 503


@needs_redis
def test_a_redis_that_answers_and_takes_nothing_is_not_ready(ask, redis):
    redis.client.config_set("maxmemory", 1)
    assert ask()[:2] == (
        503,
        {
            "status": "not ready",
            "why": "redis: takes nothing (OutOfMemoryError)",
            "checks": ALL_WELL | {"redis": "takes nothing (OutOfMemoryError)"},
        },
    )
    redis.client.config_set("maxmemory", 0)
    redis.client.replicaof("127.0.0.1", free_port())
    assert ask()[1]["checks"]["redis"] == "takes nothing (ReadOnlyError)"
    redis.client.replicaof("NO", "ONE")
    assert ask()[0] == 200
    with override_settings(REDIS_URL=f"{redis.url}999"):
        assert ask()[1]["checks"]["redis"] == "takes nothing (ResponseError)"


def test_an_address_with_a_password_is_told_to_nobody(ask):
    url = f"redis://user:quokka-secret@127.0.0.1:{free_port()}/0"
    with override_settings(REDIS_URL=url):
        status, told, seconds = ask()
    assert status == 503
    assert told["checks"]["redis"] in ("does not answer", f"no answer in {readiness.PATIENCE:g} seconds")
    assert "quokka" not in str(told) and str(urlsplit(url).port) not in str(told)
    assert seconds < 20


def test_one_look_serves_all_who_ask_meanwhile():
    going, looked = threading.Event(), []

    def look():
        going.wait(10)
        looked.append(1)
        return len(looked)

    one = Look(look)
    first, second = one.begin(), one.begin()
    going.set()
    assert (first.result(10), second.result(10)) == (1, 1)
    assert one.begin().result(10) == 2


def raising(error):
    def fail(*_):
        raise error

    return fail
