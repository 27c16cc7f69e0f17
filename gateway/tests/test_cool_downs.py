"""What a refusal leads to, through the front door: who cools down, who is retired, what a person is told."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import running_server

MODELS = {
    "fast": {"model": "say-fast"},
    "limited": {"model": "err-429-120-a"},
    "unsaid": {"model": "err-429"},
    "busy": {"model": "err-529", "status": "ad_hoc"},
    "ended": {"model": "err-410", "status": "ad_hoc"},
    "maybe": {"model": "err-404--a", "status": "ad_hoc"},
    "broke": {"model": "err-402--a:free", "status": "ad_hoc"},
    "keyless": {"model": "err-401", "status": "ad_hoc", "endpoint": "other"},
    "keyed": {"model": "say-keyed", "status": "ad_hoc", "endpoint": "other"},
    "merger": {"model": "err-429-60-merger", "status": "ad_hoc"},
    "steady": {"model": "say-steady", "status": "ad_hoc"},
}
COLLECTIONS = {name: [name] for name in MODELS} | {
    "core": ["fast", "limited"],
    "merging": ["fast", "steady"],
    "again": ["fast", "steady", "merger"],
}
OTHER = """
[endpoints.other]
protocol = "openai_chat"
base_url = "{url}"
[limits]
max_explorers = 1
"""


@pytest.fixture(scope="module")
def upstream():
    with FakeUpstream() as fake:
        yield fake


@pytest.fixture(scope="module")
def bench(upstream, tmp_path_factory):
    toml = bench_file(upstream.url, MODELS, COLLECTIONS) + OTHER.format(url=upstream.url)
    with running_server(tmp_path_factory.mktemp("cooling"), toml) as server:
        yield server


def seats(reply):
    return {seat["alias"]: seat["error_kind"] or seat["status"] for seat in reply.json["bench"]["seats"]}


def skipped(reply):
    return {seat["alias"]: seat["why"] for seat in reply.json["bench"]["skipped"]}


def rest(bench, served_id):
    rows = bench.rows("select until, why from collections_app_cooldown where served_id = ?", served_id)
    return next(((datetime.fromisoformat(str(until)).replace(tzinfo=UTC), why) for until, why in rows), None)


def alerts(bench):
    return bench.rows("select kind, about, message from collections_app_alert where resolved_at is null order by id")


def status(bench, alias):
    return bench.rows("select status, retired_why from collections_app_languagemodel where alias = ?", alias)[0]


def test_a_429_cools_the_model_down_for_as_long_as_it_says(bench, upstream):
    before = datetime.now(UTC)
    assert seats(bench.chat("bench/core"))["limited"] == "rate_limited"
    until, why = rest(bench, "err-429-120-a")
    assert before + timedelta(seconds=119) < until <= datetime.now(UTC) + timedelta(seconds=120)
    assert why == "Rate limit reached for requests"
    asked = upstream.stats["err-429-120-a"]
    reply = bench.chat("bench/core")
    assert skipped(reply) == {"limited": f"cooling down until {until:%Y-%m-%d %H:%M:%S} UTC: {why}"}
    assert "limited" not in seats(reply)
    assert upstream.stats["err-429-120-a"] == asked


def test_explorers_avoid_who_cools_down(bench):
    # Stalest first: each of the two is asked once, refuses, and is avoided from then on.
    for _ in range(3):
        bench.chat("bench/steady")
    assert rest(bench, "err-429") is not None
    explorers = [set(seats(bench.chat("bench/steady"))) - {"steady"} for _ in range(3)]
    assert explorers == [{"fast"}] * 3


def test_who_is_overloaded_is_asked_again(bench):
    for _ in range(2):
        assert seats(bench.chat("bench/busy"))["busy"] == "overloaded"
    assert rest(bench, "err-529") is None


def test_a_model_that_has_reached_its_end_is_retired_at_once(bench, upstream):
    assert seats(bench.chat("bench/ended"))["ended"] == "retired"
    assert status(bench, "ended") == ("retired", "Its provider said so: The model has reached its end of life")
    assert ("gone", "err-410") in [alert[:2] for alert in alerts(bench)]
    assert skipped(bench.chat("bench/ended"))["ended"] == "retired"
    assert upstream.stats["err-410"] == 1


def test_one_404_retires_nobody_and_two_of_different_panels_do(bench):
    assert seats(bench.chat("bench/maybe"))["maybe"] == "maybe_gone"
    assert status(bench, "maybe") == ("ad_hoc", "")
    assert seats(bench.chat("bench/maybe"))["maybe"] == "maybe_gone"
    assert status(bench, "maybe")[0] == "retired"
    assert skipped(bench.chat("bench/maybe"))["maybe"] == "retired"
    (by,) = bench.rows("select additional_data from auditlog_logentry where object_repr = 'maybe' order by id desc limit 1")[0]
    assert "what its provider answered" in by


def test_a_free_model_that_asks_for_money_went_paid(bench):
    assert seats(bench.chat("bench/broke"))["broke"] == "payment_required"
    until, _ = rest(bench, "err-402--a:free")
    assert until > datetime.now(UTC) + timedelta(hours=23, minutes=59)
    (message,) = [message for kind, about, message in alerts(bench) if (kind, about) == ("went_paid", "err-402--a:free")]
    assert "was believed free and asks for money: Insufficient credits" in message


def test_a_rejected_key_is_an_alert_until_an_answer_comes(bench):
    assert seats(bench.chat("bench/keyless"))["keyless"] == "unauthorized"
    bench.chat("bench/fast")
    (message,) = [message for kind, _, message in alerts(bench) if kind == "key_rejected"]
    assert message == "other does not take its key for err-401: Incorrect API key provided"
    bench.chat("bench/keyed")
    assert "key_rejected" not in [kind for kind, _, _ in alerts(bench)]


def test_a_merger_that_was_refused_cools_down_and_the_next_merge_asks_another(bench, upstream):
    ask = {"bench": {"reply": "merged", "merger": "merger"}}
    first = bench.chat("bench/merging", **ask).json["bench"]
    assert first["merger"]["error_kind"] == "rate_limited"
    again = bench.chat("bench/merging", **ask)
    assert again.json["bench"]["merger"]["alias"] != "merger"
    assert "merger, whom the request named, is cooling down until 20" in again.json["choices"][0]["message"]["content"]
    assert upstream.stats["err-429-60-merger"] == 1
