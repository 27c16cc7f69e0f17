"""Moving in beside a server that answers: what came over is there at once, for the keys that it was there for."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence.tests.predecessor import CALLS, KEYS, SAMPLE, a_panel, write
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

FIRST = "p20261130-030655-848a"
MODELS, COLLECTIONS = {"quick": {"model": "say-here"}}, {"here": ["quick"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with FakeUpstream() as upstream:
        bench = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
        with running_server(tmp_path_factory.mktemp("server"), bench, BENCHWARMERS_REQUIRE_KEYS="1") as running:
            done = running.manage("import_benchwarmers", str(SAMPLE))
            assert done.returncode == 0, done.stderr
            yield running


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name]}"}


def test_a_key_of_the_predecessor_reads_its_own_panels_back(server: RunningServer) -> None:
    panel = server.request("GET", f"/bench/panels/{FIRST}", headers=bearer("chat-ui")).json
    assert (panel["status"], panel["collection"], panel["shape_by"]) == ("done", "bench/core", "decider, 0.82")
    assert [(seat["call"], seat["seat"], seat["answer"]) for seat in panel["seats"]] == [
        (f"{FIRST}.member1", "member", "The answer is 42."),
        (f"{FIRST}.member2", "member", "a race in line 40 "),
        (f"{FIRST}.explorer", "explorer", ""),
    ]
    assert server.request("GET", f"/bench/panels/{FIRST}", headers=bearer("agent")).status == 403


def test_a_key_of_the_predecessor_asks_what_it_might_ask(server: RunningServer) -> None:
    listed = server.request("GET", "/v1/models", headers=bearer("chat-ui")).json
    assert {model["id"].partition(":")[0] for model in listed["data"]} == {"bench/core"}
    asked = {"model": "bench/here", "messages": [{"role": "user", "content": "Now?"}]}
    assert server.request("POST", "/v1/chat/completions", asked, bearer("chat-ui")).status == 403
    assert server.request("POST", "/v1/chat/completions", asked, bearer("agent")).status == 200


def test_a_call_of_the_predecessor_is_judged_here_by_its_id(server: RunningServer) -> None:
    verdict = {"call": f"{FIRST}.member2", "useful": False, "note": "looked again"}
    assert server.request("POST", "/bench/verdict", verdict, bearer("chat-ui")).json["written"] is True
    again = server.manage("import_benchwarmers", str(SAMPLE))
    assert "Nothing new: nothing was written." in again.stdout
    counting = "SELECT note FROM evidence_verdict WHERE replaced_at IS NULL AND note LIKE 'looked%'"
    assert server.rows(counting) == [("looked again",)]


def test_panels_are_asked_and_written_while_it_runs(server: RunningServer, tmp_path: Path) -> None:
    folder = write(tmp_path, {CALLS: [a_panel(number) for number in range(3_000)]})
    asked = {"model": "bench/here", "messages": [{"role": "user", "content": "Now?"}]}
    over, statuses = threading.Event(), list[int]()

    def ask() -> None:
        while not over.is_set():
            statuses.append(server.request("POST", "/v1/chat/completions", asked, bearer("agent")).status)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        done = server.manage("import_benchwarmers", str(folder))
    finally:
        over.set()
        asking.join()
    assert done.returncode == 0, done.stderr
    assert "3,000 read, 3,000 new" in done.stdout
    assert set(statuses) == {200}
    checked = server.manage("check_tallies")
    assert checked.returncode == 0, checked.stderr
