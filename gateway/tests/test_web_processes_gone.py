"""Web processes that are killed, that hang and wake again, that are stopped: nobody waits for ever, all are told the same."""

import http.client
import signal
import threading
import time
from dataclasses import dataclass, field
from itertools import count, cycle

import pytest

from evidence.processes.sweep import GONE
from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import eventually, needs_redis
from gateway.tests.running_server import Answer
from gateway.tests.test_later_reading import ask, sse
from gateway.tests.test_web_processes import running_panel
from gateway.tests.web_bench import WebBench, web_bench

pytestmark = needs_redis

MODELS = {
    "fast": {"model": "say-done"},
    "quick": {"model": "slow-0.2"},
    "late": {"model": "slow-3"},
    "hung": {"model": "hung-stream"},
}
COLLECTIONS = {"short": ["fast", "quick"], "late": ["fast", "late"], "hung": ["fast", "hung"]}
BENCH = "\n[limits]\nmax_explorers = 0\n"
INTERRUPTED = ("error", "interrupted")


def bench_of(upstream) -> str:
    return bench_file(upstream.url, MODELS, COLLECTIONS) + BENCH


class Asking(threading.Thread):
    """One request under way; `reply` is None when its connection broke."""

    def __init__(self, call) -> None:
        super().__init__(daemon=True)
        self._call = call
        self.reply: Answer | None = None
        self.start()

    def run(self) -> None:
        try:
            self.reply = self._call()
        except (OSError, http.client.HTTPException):
            self.reply = None


def fast_is_done(bench: WebBench, prompt: str) -> str:
    panel_id = running_panel(bench, prompt)
    eventually(lambda: bench.seats(panel_id)["member1"][0] == "ok")
    return panel_id


@dataclass
class Aftermath:
    bench: WebBench
    killed: str = ""
    merged: str = ""
    stopped: str = ""
    followed: list = field(default_factory=list)
    joined: Answer | None = None
    told: Answer | None = None
    before: dict = field(default_factory=dict)


@pytest.fixture(scope="module")
def aftermath(upstream, tmp_path_factory):
    """Of three processes one is killed in mid-panel and one hangs, until the third has taken both for gone."""
    with web_bench(tmp_path_factory.mktemp("gone"), bench_of(upstream), processes=3) as bench:
        killed, stopped, third = bench.servers
        after = Aftermath(bench)
        Asking(lambda: ask(killed, "to be killed", "killed-key", model="bench/hung"))
        Asking(lambda: ask(killed, "unmerged", model="bench/hung:merged"))
        caller = Asking(lambda: ask(stopped, "to be stopped", model="bench/late"))
        after.killed, after.merged, after.stopped = (
            fast_is_done(bench, prompt) for prompt in ("to be killed", "unmerged", "to be stopped")
        )
        stopped.process.send_signal(signal.SIGSTOP)
        reader = Asking(lambda: third.request("GET", f"/bench/panels/{after.killed}/events"))
        joiner = Asking(lambda: ask(third, "to be killed", "killed-key", model="bench/hung"))
        killed.stop(signal.SIGKILL)
        panels = (after.killed, after.merged, after.stopped)
        eventually(lambda: all(bench.seats(panel)["member2"][0] != "running" for panel in panels))
        after.before = bench.seats(after.stopped)
        stopped.process.send_signal(signal.SIGCONT)
        for thread in (reader, joiner, caller):
            thread.join(60)
        after.followed, after.joined, after.told = sse(reader.reply.body), joiner.reply, caller.reply
        yield after


def test_the_seats_of_a_killed_process_end_in_words(aftermath):
    seats = aftermath.bench.seats(aftermath.killed)
    assert seats["member1"] == ("ok", "", "done ", "", 1)
    assert seats["member2"][:2] == INTERRUPTED
    told = aftermath.bench.servers[2].request("GET", f"/bench/panels/{aftermath.killed}").json
    assert (told["status"], told["seats"][1]["error"]) == ("interrupted", GONE)


def test_its_readers_on_another_process_get_the_end(aftermath):
    assert [(name, event.get("sequence")) for name, event in aftermath.followed] == [("seat", 1), ("seat", 2), ("end", None)]
    assert aftermath.followed[-1][1]["status"] == "interrupted"
    assert aftermath.joined.status == 200
    assert [seat["error_kind"] for seat in aftermath.joined.json["bench"]["seats"]] == ["", "interrupted"]


def test_its_merged_panel_says_why_nobody_merges_it(aftermath):
    told = aftermath.bench.servers[2].request("GET", f"/bench/panels/{aftermath.merged}").json
    assert told["status"] == "interrupted"
    note = aftermath.bench.servers[2].rows("SELECT note FROM evidence_panel WHERE panel_id = ?", aftermath.merged)
    assert note == [(f"Not merged: {GONE}.",)]


def test_a_process_that_wakes_tells_its_callers_what_everybody_was_told(aftermath):
    assert aftermath.before["member2"][:2] == INTERRUPTED
    seat = aftermath.told.json["bench"]["seats"][1]
    assert (seat["status"], seat["error_kind"], seat["error"], seat["answer"]) == (*INTERRUPTED, GONE, "")


def test_an_answer_that_it_had_got_is_kept_and_changes_nothing(aftermath):
    eventually(lambda: aftermath.bench.seats(aftermath.stopped)["member2"][3])
    status, kind, answer, partial, number = aftermath.bench.seats(aftermath.stopped)["member2"]
    assert (status, kind, answer, number) == aftermath.before["member2"][:3] + aftermath.before["member2"][4:]
    assert partial


def test_it_goes_on_as_one_of_the_bench(aftermath):
    _, woken, third = aftermath.bench.servers
    for server in (woken, third):
        assert ask(server, "and on", model="bench/short").json["bench"]["answered"] == 2
    eventually(lambda: third.rows("SELECT count(*) FROM evidence_process") == [(2,)])


def test_a_process_that_is_stopped_ends_its_own_panels_alone(upstream, tmp_path):
    with web_bench(tmp_path, bench_of(upstream), BENCH_DRAIN_SECONDS="1") as bench:
        one, other = bench.servers
        own = Asking(lambda: ask(one, "its own", model="bench/hung"))
        others = Asking(lambda: ask(other, "the other's", model="bench/late"))
        panels = [fast_is_done(bench, prompt) for prompt in ("its own", "the other's")]
        assert one.stop() == 0
        own.join(30)
        others.join(30)
        assert [seat["error_kind"] for seat in own.reply.json["bench"]["seats"]] == ["", "interrupted"]
        assert [seat["status"] for seat in others.reply.json["bench"]["seats"]] == ["ok", "ok"]
        assert bench.seats(panels[0])["member2"][:2] == INTERRUPTED
        assert other.rows("SELECT count(*) FROM evidence_process") == [(1,)]


class Load:
    """Callers who ask, each with a key, again and again until they are told, and then once more of the next process."""

    def __init__(self, bench: WebBench) -> None:
        self._bench = bench
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._ask_on, args=(number,)) for number in range(6)]
        self.told: dict[str, list[dict]] = {}
        self.unexpected: list[Answer] = []
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(90)

    def _ask_on(self, number: int) -> None:
        servers = cycle(self._bench.servers if number % 2 else reversed(self._bench.servers))
        for turn in count():
            if self._over.is_set():
                return
            key = f"load-{number}-{turn}-"
            self.told[key] = [self._until_told(servers, key) for _ in range(2)]

    def _until_told(self, servers, key: str) -> dict:
        while True:
            asking = Asking(lambda: ask(next(servers), key, key, model="bench/short"))
            asking.join()
            answer = asking.reply
            if answer is not None and answer.status in (200, 502):
                return answer.json.get("bench") or answer.json["error"]["bench"]
            if answer is not None and answer.status != 503:
                self.unexpected.append(answer)
            time.sleep(0.05)


def test_restarts_under_load_lose_no_answer_and_run_no_retry_twice(upstream, tmp_path):
    with web_bench(tmp_path, bench_of(upstream)) as bench:
        load = Load(bench)
        for server, number in zip(bench.servers, (signal.SIGTERM, signal.SIGKILL), strict=True):
            time.sleep(1.5)
            server.stop(number)
            server.start()
        time.sleep(1.5)
        load.end()
        assert not load.unexpected
        assert len(load.told) > 12
        for key, (first, second) in load.told.items():
            assert first["panel"] == second["panel"]
            assert bench.panels_of_key(key) == 1
            answers = {seat["call"].rpartition(".")[2]: seat["answer"] for seat in first["seats"]}
            assert answers == {name: row[2] for name, row in bench.seats(first["panel"]).items()}
        assert bench.servers[0].rows("SELECT count(*) FROM evidence_call WHERE status = 'running'") == [(0,)]
