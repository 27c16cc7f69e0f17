"""A panel whose shape a decision model picks, through the front door: who explores, what is said, and what it may cost."""

import asyncio
import http.client
import json
import secrets
import threading
import time
from typing import Any

import pytest

from collections_app.models import Alert, CoolDown, DecisionModel, Endpoint, LanguageModel, Usage
from collections_app.roster import roster_keeper
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_decisions import FakeDecisions
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import running_server
from gateway.upstream.contract import UpstreamError
from gateway.workers import deciding
from gateway.workers.deciding import follow_pick, in_the_way

MODELS: dict[str, Any] = {
    "fast": {"model": "say-Yes."},
    "coder": {"model": "say-Code.", "role": "code"},
    "talker": {"model": "say-Words."},
}
PICKER = """
[endpoints.typed]
base_url = "{url}"
[decision_models.jev]
endpoint = "typed"
model = "{model}"
url = "{url}/systemone"
questions = ["choice"]
[shapes.general]
description = "Anything else"
roles = ["general"]
[shapes.code]
description = "Write code"
roles = ["code"]
[collections.shaped]
members = ["fast"]
shape = "general"
"""


@pytest.fixture(scope="module")
def typed():
    with FakeDecisions({"/v1/systemone": "systemone"}) as fake:
        yield fake


@pytest.fixture(scope="module")
def bench(typed, tmp_path_factory):
    with FakeUpstream() as upstream:
        toml = bench_file(upstream.url, MODELS, {"core": ["fast"]})
        with running_server(
            tmp_path_factory.mktemp("picks"), toml + PICKER.format(url=typed.base_url, model="pick-code")
        ) as server:
            yield server


@pytest.fixture
def picks(bench, typed):
    """Have the decision model answer by another script; the server sees a changed roster."""

    def answer_by(model: str) -> None:
        with bench.database() as database:
            database.execute("update collections_app_decisionmodel set served_id = ?", (model,))
            database.execute("update collections_app_rosterversion set token = ?", (secrets.randbelow(2**62),))
        typed.requests.clear()

    return answer_by


def seats(reply: Any) -> list[str]:
    return [seat["alias"] for seat in reply.json["bench"]["seats"]]


def test_the_picked_shape_decides_who_explores(bench, typed):
    reply = bench.chat("bench/core", "Write a parser.")
    assert (reply.json["bench"]["shape"], reply.json["bench"]["shape_by"]) == ("code", "picked by jev at 0.95")
    assert seats(reply) == ["fast", "coder"]
    (_, _, body) = typed.requests[-1]
    assert body["state"] == "Write a parser."
    assert body["questions"]["shape"]["criteria"]["code"] == "Write code"
    assert "vision" not in body["questions"]["shape"]["criteria"]
    rows = bench.rows("select shape, shape_by from evidence_panel order by id desc limit 1")
    assert rows == [("code", "picked by jev at 0.95")]


def test_nobody_is_asked_where_nothing_is_to_be_picked(bench, typed):
    typed.requests.clear()
    assert bench.chat("bench/shaped").json["bench"]["shape_by"] == "set on the collection"
    assert bench.chat("bench/core", **{"with": ["talker", "coder"]}).json["bench"]["shape_by"].startswith("no explorer seat")
    image = {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}
    message = {"role": "user", "content": [image, {"type": "text", "text": "What is it?"}]}
    assert bench.request("POST", "/v1/chat/completions", {"model": "bench/core", "messages": [message]}).status == 400
    assert typed.requests == []


@pytest.mark.parametrize(
    ("model", "by"),
    [
        ("pick-code-0.5", "jev was not sure enough: code at 0.50"),
        ("pick-poetry", "jev chose no shape of this bench"),
        ("bare-code", "jev was not sure enough: code at 0.00"),
        ("err-402", "jev did not pick one: payment required"),
    ],
)
def test_any_other_answer_is_general_and_says_why(bench, picks, model, by):
    picks(model)
    reply = bench.chat("bench/core")
    assert (reply.json["bench"]["shape"], reply.json["bench"]["shape_by"]) == ("general", by)
    assert seats(reply) == ["fast", "talker"]


def test_a_rate_limited_one_is_not_asked_again_before_its_time(bench, typed, picks):
    picks("err-429-90")
    assert "rate limited" in bench.chat("bench/core").json["bench"]["shape_by"]
    assert bench.chat("bench/core").json["bench"]["shape_by"] == "jev: cooling down"
    assert len(typed.requests) == 1
    (error,) = bench.rows("select last_error from collections_app_decisionmodel")
    assert "429" in error[0]


def test_a_streams_200_does_not_wait_for_a_slow_pick_and_its_panel_does(bench, picks):
    picks("slow-4-code")
    started = time.monotonic()
    streamed = Streamed(bench, "Slowly.")
    assert streamed.status == 200
    assert 0.9 < time.monotonic() - started < 3.5
    text = streamed.rest()
    assert "picked by jev" in text and "coder" in text and "[DONE]" in text


def test_other_panels_do_not_wait_for_a_slow_pick(bench, picks):
    picks("slow-4-code")
    slow = threading.Thread(target=bench.chat, args=("bench/core",))
    slow.start()
    time.sleep(0.3)
    assert bench.chat("bench/shaped").status == 200
    assert slow.is_alive()
    slow.join()


def test_the_same_key_opens_one_panel_though_both_wait_for_a_pick(bench, picks):
    picks("slow-0.6-code")
    body = {"model": "bench/core", "messages": [{"role": "user", "content": "Once."}]}
    replies: list[Any] = []

    def ask() -> None:
        replies.append(bench.request("POST", "/v1/chat/completions", body, {"Idempotency-Key": "once"}))

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert [reply.status for reply in replies] == [200] * 3
    assert len({reply.json["bench"]["panel"] for reply in replies}) == 1
    assert bench.rows("select count(*) from evidence_panel where request like '%Once.%'") == [(1,)]


def test_a_caller_who_leaves_during_the_pick_leaves_a_panel_that_runs(bench, picks):
    picks("slow-1.5-code")
    streamed = Streamed(bench, "Left behind.")
    streamed.close()
    ended = (
        "select c.status from evidence_call c join evidence_panel p on p.id = c.panel_id where p.request like '%Left behind%'"
    )
    deadline = time.monotonic() + 8
    while time.monotonic() < deadline and bench.rows(ended) != [("ok",), ("ok",)]:
        time.sleep(0.05)
    assert bench.rows(ended) == [("ok",), ("ok",)]
    assert "never retrieved" not in bench.log


class Streamed:
    """A stream whose status is read before its body."""

    def __init__(self, bench: Any, prompt: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=30)
        body = {"model": "bench/core", "stream": True, "messages": [{"role": "user", "content": prompt}]}
        self._connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        self._response = self._connection.getresponse()
        self.status = self._response.status

    def rest(self) -> str:
        return self._response.read().decode()

    def close(self) -> None:
        self._connection.close()


def jev_at(base_url: str, served_id: str) -> DecisionModel:
    host = Endpoint(name="host", base_url=base_url)
    return DecisionModel(alias="jev", endpoint=host, served_id=served_id, url=f"{base_url}/systemone")


def test_a_pick_takes_no_longer_than_its_budget(typed, monkeypatch):
    monkeypatch.setattr(deciding, "BUDGET_SECONDS", 0.3)
    started = time.monotonic()
    with pytest.raises(UpstreamError) as failed:
        asyncio.run(deciding.pick(jev_at(typed.base_url, "hang"), lambda: "Is it?", {"general": "Anything"}))
    assert failed.value.kind == "timeout"
    assert time.monotonic() - started < 10


def test_a_fault_of_ours_fails_the_pick_and_not_the_panel(typed, caplog):
    with pytest.raises(UpstreamError, match="log says why"):
        asyncio.run(deciding.pick(jev_at(typed.base_url, "pick-code"), lambda: 1 // 0, {"general": "Anything"}))
    assert "Asking for a decision failed" in caplog.text


@pytest.fixture
def jev(db):
    host = Endpoint.objects.create(name="host", base_url="https://host.example/v1")
    return DecisionModel.objects.create(alias="jev", endpoint=host, served_id="jev-1")


def waits() -> list[tuple[str, int]]:
    return [(wait.served_id, round((wait.until - wait.since).total_seconds())) for wait in CoolDown.objects.all()]


def test_a_failure_cools_down_as_long_as_it_says_and_the_roster_knows(jev) -> None:
    roster = roster_keeper().current()
    assert roster.cool_down_of(jev) is None
    follow_pick(jev, UpstreamError("Too fast", kind="rate_limited", retry_after=120.0), roster)
    assert waits() == [("jev-1", 120)]
    assert roster_keeper().current().cool_down_of(jev) is not None
    other = LanguageModel(alias="seat", endpoint=jev.endpoint, served_id="seat-1")
    assert roster_keeper().current().cool_down_of(other) is None


@pytest.mark.parametrize(
    ("kind", "rests"),
    [
        ("timeout", [("jev-1", 60)]),
        ("unavailable", [("jev-1", 60)]),
        ("rate_limited", [("jev-1", 1800)]),
        ("refused", []),
        ("bad_reply", []),
    ],
)
def test_a_hung_server_rests_for_a_moment_and_what_a_wait_would_not_change_does_not(jev, kind, rests) -> None:
    follow_pick(jev, UpstreamError("why", kind=kind), roster_keeper().current())
    assert waits() == rests
    jev.refresh_from_db()
    assert jev.last_error == f"{kind.replace('_', ' ')}: why"


def test_a_rejected_key_is_told_and_a_good_pick_ends_that(jev) -> None:
    follow_pick(jev, UpstreamError("No such key", kind="unauthorized"), roster_keeper().current())
    assert Alert.objects.get(resolved_at=None).kind == "key_rejected"
    follow_pick(jev, None, roster_keeper().current())
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_a_pick_counts_for_its_accounts_limits_and_none_goes_out_past_them(jev) -> None:
    roster = roster_keeper().current()
    assert in_the_way(jev, roster.account, 100) == ""
    assert not Usage.objects.exists()
    jev.endpoint.requests_per_day = 2
    jev.endpoint.save()
    assert [in_the_way(jev, (), 100) == "" for _ in range(3)] == [True, True, False]
    assert "day" in in_the_way(jev, (), 100)
