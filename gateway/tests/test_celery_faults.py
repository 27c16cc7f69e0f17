"""What breaks between a server and its workers, and what becomes of the seats: processes are killed, stopped and cut off."""

import json
import signal
import threading
import time

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import celery_bench, eventually, needs_redis
from gateway.tests.fake_upstream import FakeUpstream
from gateway.workers.celery.app import SEATS, TAKEN_FOR_LOST_AFTER

pytestmark = needs_redis

MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "slow": {"model": "slow-3", "status": "ad_hoc"},
    "slower": {"model": "slow-headers-9", "status": "ad_hoc"},
    "hung": {"model": "slow-headers-25", "status": "ad_hoc"},
}
COLLECTIONS = {"quick": ["fast"], "slow": ["slow"], "slower": ["slower"], "hung": ["hung"], "both": ["fast", "hung"]}


@pytest.fixture(scope="module")
def upstream():
    with FakeUpstream() as fake:
        yield fake


@pytest.fixture(scope="module")
def bench(upstream, tmp_path_factory):
    rows = bench_file(upstream.url, MODELS, COLLECTIONS)
    with celery_bench(tmp_path_factory.mktemp("faults"), f"{rows}\n[limits]\nmax_explorers = 0\n") as running:
        yield running


class Asking:
    """A question on its way, in a thread of its own."""

    def __init__(self, bench, collection: str, **fields) -> None:
        self._replies = []
        self._thread = threading.Thread(target=lambda: self._replies.append(bench.server.chat(collection, **fields)))
        self._thread.start()

    def reply(self):
        self._thread.join(60)
        return self._replies[0]


def test_an_answer_that_cannot_come_home_is_read_from_its_row(bench, upstream):
    asked = upstream.stats["slow-3"]
    asking = Asking(bench, "slow")
    eventually(lambda: upstream.stats["slow-3"] == asked + 1)
    bench.redis.stop()
    try:
        reply = asking.reply()
        assert reply.json["bench"]["seats"][0]["status"] == "ok", (reply.json, bench.workers[0].log)
        assert reply.json["bench"]["seats"][0]["answer"] == "The answer is 42."
    finally:
        bench.redis.start()
    _works_again(bench)


def test_a_broker_that_is_away_is_told_and_the_server_goes_on(bench, upstream):
    bench.redis.stop()
    try:
        reply = bench.server.chat("quick")
        assert reply.status in (502, 503), reply.json
        assert "queue of seats" in reply.body.decode()
        eventually(lambda: bench.server.chat("quick").status == 503)
        refused = bench.server.chat("quick")
        assert refused.headers["retry-after"] == "10"
        assert bench.server.request("GET", "/healthz").status == 200
        assert bench.server.request("GET", "/v1/models").status == 200
    finally:
        bench.redis.start()
    _works_again(bench)
    running = bench.server.rows("SELECT COUNT(*) FROM evidence_call WHERE status = 'running'")
    assert running == [(0,)]


def test_a_broker_that_answers_and_takes_nothing_loses_no_seat_and_is_told_before_a_panel_is_opened(bench, upstream):
    asked = upstream.stats["slow-3"]
    asking, worker = Asking(bench, "slow"), bench.workers[0].pid
    eventually(lambda: upstream.stats["slow-3"] == asked + 1)
    bench.redis.client.config_set("maxmemory", 1)
    try:
        # The worker goes on, and what it has asked comes to its end.
        assert asking.reply().json["bench"]["seats"][0]["answer"] == "The answer is 42."
        eventually(lambda: bench.server.request("GET", "/readyz").status == 503, 10)
        eventually(lambda: bench.server.chat("quick").status == 503, 10)
        opened = bench.server.rows("SELECT COUNT(*) FROM evidence_panel")
        refused = bench.server.chat("quick")
        assert (refused.status, refused.headers["retry-after"]) == (503, "10")
        assert "takes nothing" in refused.body.decode()
        assert bench.server.rows("SELECT COUNT(*) FROM evidence_panel") == opened
    finally:
        bench.redis.client.config_set("maxmemory", 0)
    _works_again(bench)
    assert (bench.workers[0].pid, bench.workers[0].process.poll()) == (worker, None)
    assert upstream.stats["slow-3"] == asked + 1


def test_a_broker_that_hangs_is_told_in_bounded_time(bench):
    assert bench.redis.process
    bench.redis.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        reply = bench.server.chat("quick")
        assert reply.status in (502, 503), reply.json
        assert "queue of seats" in reply.body.decode()
        # Twice as long as it takes, on a machine with nothing else to do.
        assert time.monotonic() - began < 30
    finally:
        bench.redis.process.send_signal(signal.SIGCONT)
    _works_again(bench)


def test_a_stopped_worker_ends_what_ends_in_time_and_says_what_did_not(bench, upstream):
    asked = upstream.stats["slow-3"], upstream.stats["slow-headers-25"]
    slow, hung = Asking(bench, "slow"), Asking(bench, "both")
    eventually(lambda: (upstream.stats["slow-3"], upstream.stats["slow-headers-25"]) == (asked[0] + 1, asked[1] + 1))
    assert bench.workers[0].stop() == 0
    assert slow.reply().json["bench"]["seats"][0]["status"] == "ok"
    seats = hung.reply().json["bench"]["seats"]
    assert [(seat["status"], seat["error_kind"]) for seat in seats] == [("ok", ""), ("error", "interrupted")]
    assert "worker was stopped" in seats[1]["error"]
    assert bench.server.rows("SELECT COUNT(*) FROM evidence_process WHERE kind = 'worker'") == [(0,)]
    # The server looks once a second; what is asked before waits for another worker to start.
    time.sleep(3)
    eventually(lambda: "No worker is there" in bench.server.chat("quick").body.decode())
    bench.start_worker().ready()
    _works_again(bench)
    assert upstream.stats["slow-headers-25"] == asked[1] + 1


def test_a_seat_whose_worker_is_killed_ends_as_an_error_and_is_not_asked_again(bench, upstream):
    asked = upstream.stats["slow-headers-25"]
    hung = Asking(bench, "both")
    eventually(lambda: upstream.stats["slow-headers-25"] == asked + 1)
    bench.workers[-1].stop(signal.SIGKILL)
    seats = hung.reply().json["bench"]["seats"]
    assert [(seat["status"], seat["error_kind"]) for seat in seats] == [("ok", ""), ("error", "interrupted")]
    assert "is gone" in seats[1]["error"]
    # What the killed worker had not acknowledged comes to the next one as soon as it starts, and it does not ask.
    redis = bench.redis.client
    assert redis.hlen("unacked")
    newest = redis.zrange("unacked_index", -1, -1, withscores=True)[0][1]
    eventually(lambda: time.time() - newest > TAKEN_FOR_LOST_AFTER)
    bench.start_worker().ready()
    eventually(lambda: redis.hlen("unacked") == 0 and redis.llen(SEATS) == 0)
    _works_again(bench)
    assert upstream.stats["slow-headers-25"] == asked + 1


def test_a_seat_whose_job_is_lost_on_its_way_to_a_worker_is_asked_by_another(bench, upstream):
    asked, redis, hanging = upstream.stats["slow-3"], bench.redis.client, bench.workers[-1]
    assert hanging.process
    eventually(lambda: redis.hlen("unacked") == 0)
    hanging.process.send_signal(signal.SIGSTOP)
    asking = Asking(bench, "slow", prompt="Said at length. " * 3_000)
    eventually(lambda: redis.keys("bench-parcel:*"))
    time.sleep(0.5)
    # Redis has handed the job to a worker that never knows of it, or has it still; what is long lies beside it.
    redis.flushdb()
    hanging.stop(signal.SIGKILL)
    bench.start_worker().ready()
    reply = asking.reply()
    assert (reply.status, reply.json["bench"]["seats"][0]["status"]) == (200, "ok"), reply.json
    assert upstream.stats["slow-3"] == asked + 1
    eventually(lambda: not redis.keys("bench-parcel:*"))


def test_a_seat_that_no_worker_takes_ends_and_is_never_asked(bench, upstream):
    asked = upstream.stats["slow-3"]
    worker = bench.workers[-1]
    assert worker.process
    worker.process.send_signal(signal.SIGSTOP)
    # Before anybody has noticed, a seat is queued; found gone, its process is continued too late.
    reply = Asking(bench, "slow").reply()
    assert reply.status == 502, reply.json
    assert "no worker took this seat" in reply.body.decode()
    # No worker's clock decides whether a job is still wanted.
    assert json.loads(bench.redis.client.lindex(SEATS, 0))["headers"]["expires"] is None
    worker.process.send_signal(signal.SIGCONT)
    redis = bench.redis.client
    eventually(lambda: redis.hlen("unacked") == 0 and redis.llen(SEATS) == 0)
    _works_again(bench)
    assert upstream.stats["slow-3"] == asked


def _works_again(bench) -> None:
    eventually(lambda: bench.server.chat("quick").status == 200)
