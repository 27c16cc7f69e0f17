"""Known limits, through the front door: a short wait is waited, a longer one ends the seat or skips it, and says until when."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from collections_app.models.health import Quota
from collections_app.services.quotas import Claim, Refused, Reservation
from gateway.tests import fake_upstream
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import running_server
from gateway.upstream.contract import UpstreamError
from gateway.workers import turnstile
from gateway.workers.turnstile import Turnstile

MODELS = {
    "daily": {"model": "say-daily", "requests_per_day": 2, "status": "ad_hoc"},
    "free": {"model": "say-a:free", "endpoint": "router", "status": "ad_hoc"},
    "too-free": {"model": "say-b:free", "endpoint": "router", "status": "ad_hoc"},
    "minute": {"model": "say-minute", "requests_per_minute": 1, "status": "ad_hoc"},
    "waiting": {"model": "say-waiting", "requests_per_minute": 1, "status": "ad_hoc"},
    "tokens": {"model": "say-tokens", "tokens_per_minute": 100, "status": "ad_hoc"},
    "telling": {"model": "telling", "status": "ad_hoc"},
    "plain": {"model": "say-plain", "status": "ad_hoc"},
    "merger": {"model": "say-merged", "requests_per_day": 1, "status": "ad_hoc"},
}
COLLECTIONS = {name: [name] for name in MODELS} | {
    "core": ["daily", "plain"],
    "frees": ["free", "too-free"],
    "pair": ["plain", "minute"],
    "merging": ["plain", "telling"],
}
# What the fake upstream says that every answer took.
USED = 12
ROUTER = """
[endpoints.router]
protocol = "openai_chat"
base_url = "{url}"
requests_per_day = 3
[limits]
max_explorers = 1
"""


def telling(call, _):
    call.start_stream(
        **{"x-ratelimit-limit-requests": "30", "x-ratelimit-remaining-requests": "28", "x-ratelimit-reset-requests": "4s"}
    )
    call.say("I", " tell")
    call.end()


@pytest.fixture(scope="module")
def upstream():
    with pytest.MonkeyPatch.context() as patched, FakeUpstream() as fake:
        patched.setitem(fake_upstream.SCRIPTS, "telling", telling)
        yield fake


@pytest.fixture(scope="module")
def bench(upstream, tmp_path_factory):
    toml = bench_file(upstream.url, MODELS, COLLECTIONS) + ROUTER.format(url=upstream.url)
    with running_server(tmp_path_factory.mktemp("quotas"), toml) as server:
        yield server


@pytest.fixture(autouse=True)
def not_at_midnight():
    """The tests of one day's limits need all of their calls within one day."""
    now = datetime.now(UTC)
    left = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1) - now
    if left < timedelta(seconds=20):
        time.sleep(left.total_seconds())


def seats(reply):
    return {seat["alias"]: seat["error_kind"] or seat["status"] for seat in reply.json["bench"]["seats"]}


def skipped(reply):
    return {seat["alias"]: seat["why"] for seat in reply.json["bench"]["skipped"]}


def midnight():
    return f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d} 00:00:00 UTC"


def test_a_member_outside_its_days_limit_is_skipped_with_until_when(bench, upstream):
    assert [seats(bench.chat("bench/core"))["daily"] for _ in range(2)] == ["ok", "ok"]
    reply = bench.chat("bench/core")
    assert skipped(reply) == {"daily": f"cooling down until {midnight()}: its limit of 2 requests a day is used up"}
    assert upstream.stats["say-daily"] == 2


def test_an_accounts_limit_is_shared_and_a_seat_that_is_seated_too_late_says_why(bench, upstream):
    assert seats(bench.chat("bench/frees")) == {"free": "ok", "too-free": "ok"}
    reply = bench.chat("bench/frees")
    assert sorted(seats(reply).values()) == ["ok", "rate_limited"]
    (error,) = [seat["error"] for seat in reply.json["bench"]["seats"] if seat["error"]]
    assert error == f"not asked: its account's limit of 3 requests a day is used up until {midnight()}"
    last = bench.chat("bench/frees")
    assert last.status == 503
    assert last.json["error"]["message"].count("its account's limit of 3 requests a day is used up") == 2
    assert int(last.headers["retry-after"]) > 10
    assert upstream.stats["say-a:free"] + upstream.stats["say-b:free"] == 3


def test_a_wait_that_is_too_long_ends_the_seat_and_cools_nobody_down(bench, upstream):
    assert seats(bench.chat("bench/pair")) == {"plain": "ok", "minute": "ok"}
    started = time.monotonic()
    assert seats(bench.chat("bench/pair")) == {"plain": "ok", "minute": "rate_limited"}
    assert time.monotonic() - started < 5
    assert bench.rows("select * from collections_app_cooldown where served_id = 'say-minute'") == []
    alone = bench.chat("bench/minute")
    assert alone.status == 429
    assert 40 < int(alone.headers["retry-after"]) <= 60
    assert upstream.stats["say-minute"] == 1


def test_a_short_wait_is_waited_and_holds_nobody_else_up(bench, upstream):
    with bench.database() as connection:
        start = f"{datetime.now(UTC) - timedelta(seconds=57.5):%Y-%m-%d %H:%M:%S.%f+00:00}"
        row = ("say-waiting", "minute", start)
        connection.execute(
            "insert into collections_app_usage (endpoint_id, served_id, span, start, requests, tokens) "
            "select endpoint_id, ?, ?, ?, 1, 0 from collections_app_languagemodel where alias = 'waiting'",
            row,
        )
    started, replies = time.monotonic(), []
    waiter = threading.Thread(target=lambda: replies.append((bench.chat("bench/waiting"), time.monotonic() - started)))
    waiter.start()
    assert seats(bench.chat("bench/plain")) == {"plain": "ok"}
    assert waiter.is_alive()
    waiter.join()
    ((reply, took),) = replies
    assert seats(reply) == {"waiting": "ok"}
    assert took > 1.5
    # What it waited is not what its provider took.
    assert reply.json["bench"]["seats"][0]["seconds"] < took - 1


def test_a_prompt_that_no_minute_has_room_for_is_refused_before_it_is_sent(bench, upstream):
    (seat,) = [seat for seat in bench.chat("bench/tokens", "word " * 400).json["bench"]["seats"] if seat["alias"] == "tokens"]
    assert seat["error"] == (
        "not asked: its limit of 100 tokens a minute is less than the 550 tokens that this request may take"
    )
    assert upstream.stats["say-tokens"] == 0
    assert seats(bench.chat("bench/tokens", "Short."))["tokens"] == "ok"
    # Not the estimate of its prompt: what its provider counted.
    assert bench.rows("select span, tokens from collections_app_usage where served_id = 'say-tokens' order by span") == [
        ("day", USED),
        ("minute", USED),
    ]


def test_what_replies_tell_of_limits_is_counted_from_then_on(bench):
    bench.chat("bench/telling")
    counted = "select span, sum(requests) from collections_app_usage where served_id = 'telling' group by span"
    facts = bench.rows("select field, value, source from collections_app_fact where served_id = 'telling'")
    assert facts == [("requests_per_minute", "30", "learned")]
    assert dict(bench.rows(counted)) == {"minute": 2}
    bench.chat("bench/telling")
    assert dict(bench.rows(counted)) == {"minute": 3, "day": 1}


def test_a_merge_counts_too(bench):
    merged = [
        bench.chat("bench/merging", bench={"reply": "merged", "merger": "merger"}).json["bench"]["merger"] for _ in range(2)
    ]
    assert [merger["alias"] == "merger" for merger in merged] == [True, False]


def test_a_model_without_limits_is_not_counted(bench):
    assert bench.rows("select * from collections_app_usage where served_id = 'say-plain'") == []


def reservation(seconds):
    """A turnstile whose first answer is a wait of so many seconds, and its next one room; and what it was asked."""
    claim = Claim(endpoint_id=1, quotas=(Quota(pattern="m", requests_per_minute=1),), tokens=0)
    at = datetime.now(UTC)
    room = Reservation(claim=claim, at=at)
    answers = [Refused(at=at, until=seconds and at + timedelta(seconds=seconds), why="its limit is used up"), room]
    return claim, room, Turnstile(lambda _: answers.pop(0)), answers


def test_a_wait_that_fits_is_waited_and_no_longer_one(monkeypatch):
    slept = []
    monkeypatch.setattr(turnstile.time, "sleep", slept.append)
    claim, room, gate, _ = reservation(19.5)
    assert gate.reserve(claim) is room
    assert slept == [19.5]
    for seconds in (20.5, None):
        claim, room, gate, left = reservation(seconds)
        with pytest.raises(UpstreamError, match="not asked: its limit is used up") as refused:
            gate.reserve(claim)
        assert (refused.value.kind, refused.value.retry_after, left) == ("rate_limited", seconds, [room])


def test_waits_add_up_to_no_more_than_one(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(turnstile.time, "monotonic", lambda: clock[0])

    def sleep(seconds):
        clock[0] += seconds
        assert clock[0] < 60, "it waits for ever"

    monkeypatch.setattr(turnstile.time, "sleep", sleep)
    claim, _, _, _ = reservation(1)
    at = datetime.now(UTC)
    gate = Turnstile(lambda _: Refused(at=at, until=at + timedelta(seconds=8), why="others came first"))
    with pytest.raises(UpstreamError, match="others came first"):
        gate.reserve(claim)
    assert clock == [16.0]
