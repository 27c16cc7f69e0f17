"""Explorers rotate by the call log: every model is asked before any is asked twice, and twenty callers write at once."""

import threading
from collections import Counter

import pytest
from django.db import connection

from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import running_server

MODELS = {name: {"model": f"say-{name}"} for name in ("home", "red", "blue", "green", "gold", "grey")}


@pytest.fixture(scope="module")
def rotating(upstream, tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("rotating"), bench_file(upstream.url, MODELS, {"one": ["home"]})) as server:
        yield server


def explorers(reply) -> list[str]:
    return [seat["alias"] for seat in reply.json["bench"]["seats"] if seat["seat"] == "explorer"]


def test_six_calls_seat_every_other_model_before_any_repeats(rotating):
    asked = [alias for _ in range(6) for alias in explorers(rotating.chat("bench/one"))]
    assert len(asked) == 12
    others = set(MODELS) - {"home"}
    assert set(asked[:5]) == others
    assert set(asked[5:10]) == others


def test_a_nominated_model_takes_an_explorers_seat(rotating):
    bench = rotating.chat("bench/one", **{"with": ["grey"]}).json["bench"]
    assert (bench["seats"][1]["alias"], bench["seats"][1]["nominated"]) == ("grey", True)
    assert len(bench["seats"]) == 3
    again = rotating.chat("bench/one", bench={"with": ["home"]}).json["bench"]
    assert [seat["seat"] for seat in again["seats"]] == ["member", "explorer", "explorer"]


def test_twenty_callers_at_once_all_answer_and_explorers_share_the_work(rotating):
    replies: list = []

    def ask_five_times() -> None:
        replies.extend(rotating.chat("bench/one") for _ in range(5))

    callers = [threading.Thread(target=ask_five_times) for _ in range(20)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert [reply.status for reply in replies] == [200] * 100
    assert all(seat["status"] == "ok" for reply in replies for seat in reply.json["bench"]["seats"])
    assert len({reply.json["bench"]["panel"] for reply in replies}) == 100
    turns = Counter(alias for reply in replies for alias in explorers(reply))
    # On PostgreSQL several panels are seated at once, and those of one moment may take the same explorer.
    assert max(turns.values()) - min(turns.values()) <= (2 if connection.vendor == "sqlite" else 10)
    assert "database is locked" not in rotating.log
    assert rotating.rows("select count(*) from evidence_call where status != 'ok'") == [(0,)]
