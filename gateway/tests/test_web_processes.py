"""Two web processes on one database and one Redis are one bench: whatever is asked of the one is known to the other."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import needs_redis
from gateway.tests.test_later_reading import ask, sse
from gateway.tests.web_bench import web_bench

pytestmark = needs_redis

MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "steady": {"model": "slow-0.4"},
    "slow": {"model": "slow-1.2"},
    "limited": {"model": "err-429-600"},
}
COLLECTIONS = {
    "staggered": ["fast", "steady", "slow"],
    "pair": ["fast", "steady"],
    "half": ["fast", "limited"],
    "changing": ["fast", "steady"],
}
LIMITS = "\n[limits]\nmax_explorers = 0\n"
RETRY = {"x-stainless-retry-count": "1"}
ROUNDS = 6


@pytest.fixture(scope="module")
def bench(upstream, tmp_path_factory):
    with web_bench(tmp_path_factory.mktemp("web"), bench_file(upstream.url, MODELS, COLLECTIONS) + LIMITS) as running:
        yield running


@pytest.fixture
def one(bench):
    return bench.servers[0]


@pytest.fixture
def other(bench):
    return bench.servers[1]


def asking(server, *arguments, **fields):
    """Ask in a thread of its own; returns it and where the reply will be."""
    replies: list = []
    thread = threading.Thread(target=lambda: replies.append(ask(server, *arguments, **fields)))
    thread.start()
    return thread, replies


def running_panel(bench, prompt: str) -> str:
    """The id of the panel of this prompt, once it is there."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = bench.servers[0].rows("SELECT panel_id FROM evidence_panel WHERE request LIKE ?", f"%{prompt}%")
        if found:
            return str(found[0][0])
        time.sleep(0.01)
    raise AssertionError(f"no panel of {prompt}")


def seen_by(server, body: bytes):
    """A body without the address by which its server was reached."""
    return json.loads(body.replace(server.base_url.encode(), b"http://bench"))


def at_once(*asks):
    """Do all of these at the same moment; returns their replies."""
    barrier = threading.Barrier(len(asks))

    def do(one_of_them):
        barrier.wait()
        return one_of_them()

    with ThreadPoolExecutor(len(asks)) as threads:
        return list(threads.map(do, asks))


def test_a_panel_of_one_is_read_followed_and_judged_on_the_other(bench, one, other):
    thread, replies = asking(one, "read elsewhere")
    panel_id = running_panel(bench, "read elsewhere")
    assert other.request("GET", f"/bench/panels/{panel_id}").json["status"] == "running"
    events = sse(other.request("GET", f"/bench/panels/{panel_id}/events").body)
    thread.join()
    told = replies[0].json["bench"]
    assert [(name, event.get("sequence")) for name, event in events] == [("seat", 1), ("seat", 2), ("seat", 3), ("end", None)]
    assert [event["seat"] for _, event in events[:3]] == told["seats"]
    assert events == sse(one.request("GET", f"/bench/panels/{panel_id}/events").body)
    assert [name for name, _ in sse(other.request("GET", f"/bench/panels/{panel_id}/events?after=2").body)] == ["seat", "end"]
    verdict = {"call": told["seats"][0]["call"], "useful": True}
    assert other.request("POST", "/bench/verdict", verdict).json["written"]
    assert not one.request("POST", "/bench/verdict", verdict).json["written"]
    read = other.request("GET", f"/bench/panels/{panel_id}").body
    assert seen_by(other, read) == {"status": "done", **seen_by(one, replies[0].body)["bench"]}


def test_events_come_on_the_other_as_seats_finish(bench, one, other):
    thread, _ = asking(one, "events as they come")
    panel_id = running_panel(bench, "events as they come")
    read = other.stream(f"/bench/panels/{panel_id}/events")
    came = [(line, time.monotonic()) for line in read if line.startswith(b"event: seat")]
    thread.join()
    assert len(came) == 3
    # The slowest seat takes 0.8 seconds more than the one before it.
    assert came[2][1] - came[1][1] > 0.3


def test_a_running_panel_is_joined_by_its_key_section_by_section(bench, one, other):
    thread, replies = asking(one, "join by key", "join-key")
    running_panel(bench, "join by key")
    joined = ask(other, "join by key", "join-key", stream=True)
    thread.join()
    chunks = [seen_by(other, line[6:]) for line in joined.body.split(b"\n") if line.startswith(b"data: {")]
    pieces = [content for chunk in chunks if (content := chunk["choices"][0]["delta"].get("content"))]
    first = seen_by(one, replies[0].body)
    assert "".join(pieces) == first["choices"][0]["message"]["content"]
    assert chunks[-1]["bench"] == first["bench"]
    assert len([piece for piece in pieces if piece.startswith("## ")]) == 3
    assert seen_by(other, ask(other, "join by key", "join-key").body)["bench"] == first["bench"]


def test_a_merged_panel_is_joined_too(bench, one, other):
    thread, replies = asking(one, "join merged", "merged-key", model="bench/pair:merged")
    running_panel(bench, "join merged")
    joined = ask(other, "join merged", "merged-key", model="bench/pair:merged")
    thread.join()
    again, first = seen_by(other, joined.body), seen_by(one, replies[0].body)
    assert (again["choices"], again["bench"]) == (first["choices"], first["bench"])


def test_one_key_at_the_same_moment_is_one_panel(bench, one, other):
    for number in range(ROUNDS):
        prompt, key = f"moment-{number}-", f"moment-{number}"
        replies = at_once(*(partial(ask, server, prompt, key, model="bench/pair") for server in (one, other) * 2))
        assert [reply.status for reply in replies] == [200] * 4, [reply.body for reply in replies]
        assert len({reply.json["bench"]["panel"] for reply in replies}) == 1
        assert bench.panels_of_key(prompt) == 1


def test_another_request_with_the_key_is_refused_on_the_other(one, other):
    assert ask(one, "one question", "used-key", model="bench/pair").status == 200
    assert ask(other, "another question", "used-key", model="bench/pair").status == 422


def test_an_sdks_retry_on_the_other_joins_while_the_panel_runs(bench, one, other):
    thread, replies = asking(one, "retried elsewhere")
    panel_id = running_panel(bench, "retried elsewhere")
    assert ask(other, "retried elsewhere", headers=RETRY).json["bench"]["panel"] == panel_id
    thread.join()
    assert replies[0].json["bench"]["panel"] == panel_id
    assert ask(other, "retried elsewhere", headers=RETRY).json["bench"]["panel"] != panel_id


@pytest.mark.parametrize("headers", [(None, RETRY), (RETRY, RETRY)], ids=["first-and-retry", "two-retries"])
def test_an_sdks_retry_at_the_same_moment_is_one_panel(bench, one, other, headers):
    for number in range(ROUNDS):
        prompt = f"retry-{len([h for h in headers if h])}-{number}-"
        asks = [
            partial(ask, server, prompt, model="bench/staggered", headers=sent)
            for server, sent in zip((one, other), headers, strict=True)
        ]
        replies = at_once(*asks)
        assert len({reply.json["bench"]["panel"] for reply in replies}) == 1
        assert bench.panels_of_key(prompt) == 1


def test_a_first_try_has_a_panel_of_its_own_on_either(bench, one, other):
    replies = at_once(*(partial(ask, server, "asked twice", model="bench/pair") for server in (one, other)))
    assert len({reply.json["bench"]["panel"] for reply in replies}) == 2


def test_a_cool_down_that_one_learned_holds_on_the_other(one, other):
    refused = ask(one, "too often", model="bench/half").json["bench"]
    assert refused["seats"][1]["error_kind"] == "rate_limited"
    skipped = ask(other, "too often", model="bench/half").json["bench"]["skipped"]
    assert [(seat["alias"], "cooling down" in seat["why"]) for seat in skipped] == [("limited", True)]


def test_what_one_changes_of_the_roster_the_other_seats_by(upstream, one, other):
    assert len(ask(other, "before", model="bench/changing").json["bench"]["seats"]) == 2
    changed = COLLECTIONS | {"changing": ["steady"], "added": ["fast"]}
    retired = MODELS | {"steady": MODELS["steady"] | {"status": "retired"}}
    one.load(bench_file(upstream.url, MODELS, changed) + LIMITS)
    assert [seat["alias"] for seat in ask(other, "after", model="bench/changing").json["bench"]["seats"]] == ["steady"]
    assert ask(other, "after", model="bench/added").status == 200
    one.load(bench_file(upstream.url, retired, changed) + LIMITS)
    assert ask(other, "retired", model="bench/changing").status == 503
    one.load(bench_file(upstream.url, MODELS, changed) + LIMITS)


def test_a_keys_requests_are_counted_over_both(upstream, tmp_path):
    bench = bench_file(upstream.url, {"fast": MODELS["fast"]}, {"one": ["fast"]}) + LIMITS
    with web_bench(tmp_path, bench, BENCHWARMERS_REQUIRE_KEYS="1") as guarded:
        key = guarded.servers[0].manage("create_key", "app", "--rpm", "3").stdout.strip()
        bearer = {"Authorization": f"Bearer {key}"}
        asked = [ask(server, "often", model="bench/one", headers=bearer).status for server in guarded.servers * 2]
    assert asked == [200, 200, 200, 429]


def test_streams_open_no_channel_in_redis(bench, one):
    before = bench.redis.client.info("commandstats")
    assert ask(one, "no channel", model="bench/pair", stream=True).status == 200
    after = bench.redis.client.info("commandstats")
    asked = {name for name in after if after[name]["calls"] > before.get(name, {"calls": 0})["calls"]}
    # What it tells pages, and what the test itself asks.
    assert asked <= {"cmdstat_publish", "cmdstat_info", "cmdstat_ping", "cmdstat_client|setinfo", "cmdstat_client"}


def test_the_folder_is_not_for_a_server_that_thinks_itself_alone(bench, one):
    alone = one.manage("serve")
    assert alone.returncode == 1
    assert "--web" in alone.stderr
    assert all(server.request("GET", "/readyz").status == 200 for server in bench.servers)
