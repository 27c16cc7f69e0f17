"""Requests a minute: exact however many come at once, with Redis across processes, and what holds when Redis is away."""

import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count
from threading import Barrier

import pytest
from django.conf import settings as site

from keys import throttling
from keys.errors import TooManyRequests
from keys.services import LOCAL, Caller
from keys.tests.making import REDIS, running_redis
from keys.throttling import ALONE_SECONDS, Rates, count_request

AT_ONCE = 50
needs_redis = pytest.mark.skipif(not REDIS, reason="no redis-server on this machine")
ids = count(1000)


def a_caller(rpm, name="app"):
    """A caller whom nothing has counted yet."""
    return Caller(name, key_id=next(ids), rpm=rpm)


def is_counted(caller):
    try:
        count_request(caller)
    except TooManyRequests:
        return False
    return True


def counted_at_once(caller, times):
    start = Barrier(times)

    def ask(_):
        start.wait(10)
        return is_counted(caller)

    with ThreadPoolExecutor(times) as pool:
        return sum(pool.map(ask, range(times)))


@contextmanager
def socket_that_says_nothing():
    """Listen on a free port and accept nobody; yields a URL of Redis with a password in it."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        yield f"redis://:hush@127.0.0.1:{listening.getsockname()[1]}/0"


class Clock:
    """The time that the counters in memory see."""

    def __init__(self, monkeypatch):
        self.now = 1_800_000_000.0
        monkeypatch.setattr("time.time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture(scope="module")
def redis_url():
    with running_redis() as url:
        yield url


def test_it_counts_and_says_when_to_ask_again(clock):
    caller = a_caller(3)
    for seconds in (0, 10, 10):
        clock.now += seconds
        count_request(caller)
    clock.now += 5.5
    with pytest.raises(TooManyRequests) as refusal:
        count_request(caller)
    assert (refusal.value.status_code, refusal.value.wait) == (429, 35)
    assert str(refusal.value.detail) == 'The gateway key "app" may ask 3 times a minute, and has. Ask again in 35 seconds.'


def test_the_wait_is_long_enough_and_no_second_too_long(clock):
    caller = a_caller(1)
    count_request(caller)
    clock.now += 0.25
    with pytest.raises(TooManyRequests, match=r"may ask 1 time a minute, and has\. Ask again in 60 seconds") as refusal:
        count_request(caller)
    clock.now += refusal.value.wait - 1
    with pytest.raises(TooManyRequests, match=r"Ask again in 1 second\.") as refusal:
        count_request(caller)
    clock.now += refusal.value.wait
    count_request(caller)


def test_the_window_moves_no_minute_has_twice_as_many(clock):
    caller = a_caller(10)
    clock.now += 59
    assert sum(is_counted(caller) for _ in range(20)) == 10
    clock.now += 2
    assert not is_counted(caller)
    clock.now += 58.5
    assert sum(is_counted(caller) for _ in range(20)) == 10


def test_what_is_refused_is_not_counted(clock):
    caller = a_caller(1)
    count_request(caller)
    for _ in range(59):
        clock.now += 1
        assert not is_counted(caller)
    clock.now += 2
    assert is_counted(caller)


def test_keys_are_counted_apart_and_no_limit_is_none():
    one, other = a_caller(1), a_caller(1)
    assert [is_counted(one), is_counted(one), is_counted(other)] == [True, False, True]
    assert all(is_counted(a_caller(None)) for _ in range(5))
    assert all(is_counted(LOCAL) for _ in range(200))


@pytest.mark.parametrize("rpm", [1, 7, 49])
def test_of_fifty_at_once_exactly_as_many_pass_as_may(rpm):
    assert counted_at_once(a_caller(rpm), AT_ONCE) == rpm


@needs_redis
def test_with_redis_of_fifty_at_once_exactly_as_many_pass_as_may(settings, redis_url):
    settings.REDIS_URL = redis_url
    caller = a_caller(7)
    assert counted_at_once(caller, AT_ONCE) == 7
    with pytest.raises(TooManyRequests) as refusal:
        count_request(caller)
    assert 55 <= refusal.value.wait <= 60


PROCESS = """
import django, sys
django.setup()
from keys.tests.test_throttling import a_caller, counted_at_once
from keys.services import Caller
print("ready", flush=True)
sys.stdin.readline()
print(counted_at_once(Caller("app", key_id=7, rpm=20), 15))
"""


@needs_redis
def test_with_redis_processes_count_together(redis_url):
    environment = {
        "DJANGO_SETTINGS_MODULE": "benchsite.settings",
        "REDIS_URL": redis_url,
        "BENCH_DATA_DIR": str(site.BENCH_DATA_DIR),
    }
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": site.BASE_DIR, "env": environment}
    processes = [subprocess.Popen([sys.executable, "-c", PROCESS], **pipes) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=30)[0] for process in processes]
    assert sum(map(int, said)) == 20, said


@needs_redis
def test_without_an_answer_from_redis_a_process_counts_alone_and_comes_back(settings, caplog, monkeypatch):
    with running_redis() as url:
        settings.REDIS_URL = url
        caller = a_caller(2)
        count_request(caller)
    asked = time.monotonic()
    assert [is_counted(caller) for _ in range(4)] == [True, True, False, False]
    assert time.monotonic() - asked < 10
    assert [record.getMessage() for record in caplog.records] == [
        "Redis does not count (ConnectionError): this process counts alone"
    ]
    later = time.monotonic() + ALONE_SECONDS + 1
    monkeypatch.setattr("keys.throttling.time.monotonic", lambda: later)
    assert not is_counted(caller)
    assert len(caplog.records) == 2


def test_a_redis_that_hangs_holds_nobody_up_for_long(caplog):
    with socket_that_says_nothing() as url:
        counters = Rates(url)
        asked = time.monotonic()
        assert [counters.take(1, 1) for _ in range(2)] == [0, 60]
        assert time.monotonic() - asked < 10
    assert "hush" not in caplog.text


def test_counters_are_one_a_process_even_when_fifty_ask_for_them_first():
    throttling._made.cache_clear()
    assert counted_at_once(a_caller(7), AT_ONCE) == 7
