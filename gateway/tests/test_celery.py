"""Panels whose seats Celery workers ask: real processes, a real Redis, a real server."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from celery import Celery
from django.conf import settings
from django.test import override_settings

from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import POOL, celery_bench, eventually, needs_redis
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer
from gateway.upstream.contract import Target
from gateway.workers.celery.app import ASK_SEAT, SEATS
from gateway.workers.celery.kinship import SIGN, STRANGER
from gateway.workers.celery.message import Errand, errand_as_bytes
from gateway.workers.celery.sealed import seal
from gateway.workers.celery.worker import leave_strangers
from gateway.workers.job import SeatJob

pytestmark = needs_redis

MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "steady": {"model": "slow-0.3"},
    "hung": {"model": "slow-4", "status": "ad_hoc"},
    "ticking": {"model": "tick-0.1", "status": "ad_hoc"},
    "echo": {"model": "echo", "status": "ad_hoc", "vision": True},
    "broken": {"model": "err-500", "status": "ad_hoc"},
}
COLLECTIONS = {
    "pair": ["fast", "steady"],
    "echoing": ["echo"],
    "slow": ["hung"],
    "half": ["fast", "broken"],
}
KEY = "sk-upstream-4711-secret"
# Random, or Redis would find it again in what it compresses.
PICTURE = base64.b64encode(os.urandom(60_000)).decode()


@pytest.fixture(scope="module")
def upstream():
    with FakeUpstream() as fake:
        yield fake


@pytest.fixture(scope="module")
def bench(upstream, tmp_path_factory):
    rows = bench_file(upstream.url, MODELS, COLLECTIONS).replace("[models", 'api_key_env = "OF_THE_FAKE"\n[models', 1)
    folder = tmp_path_factory.mktemp("celery")
    with celery_bench(folder, f"{rows}\n[limits]\nmax_explorers = 0\n", workers=2, OF_THE_FAKE=KEY) as running:
        yield running


def test_a_panel_is_answered_by_workers(bench):
    answer = bench.server.chat("pair")
    assert answer.status == 200, (answer.json, bench.server.log, bench.workers[0].log)
    assert [seat["status"] for seat in answer.json["bench"]["seats"]] == ["ok", "ok"]
    assert answer.json["bench"]["seats"][0]["answer"].strip() == "No stale read."
    rows = bench.calls(answer.json["bench"]["panel"])
    assert [row[0] for row in rows.values()] == ["ok", "ok"]


def test_a_failed_seat_comes_home_as_it_failed(bench):
    seats = bench.server.chat("half").json["bench"]["seats"]
    assert [(seat["status"], seat["error_kind"]) for seat in seats] == [("ok", ""), ("error", "unavailable")]


def test_workers_share_the_seats(bench):
    holders = set()

    def both_have_held() -> bool:
        asking = [threading.Thread(target=lambda: panels.append(bench.server.chat("pair"))) for _ in range(6)]
        panels = []
        for one in asking:
            one.start()
        for one in asking:
            one.join()
        for panel in panels:
            holders.update(row[3] for row in bench.calls(panel.json["bench"]["panel"]).values())
        return len(holders) == 2

    eventually(both_have_held)
    assert {name.split(":")[1] for name in holders} == {str(worker.pid) for worker in bench.workers}


def test_a_merger_s_text_comes_home_as_it_writes(bench):
    asked = {"stream": True, "bench": {"reply": "merged", "merger": "ticking"}}
    answer = bench.server.chat("pair", **asked)
    deltas = [json.loads(line[6:]) for line in answer.body.decode().splitlines() if line.startswith("data: {")]
    pieces = [delta["choices"][0]["delta"].get("content", "") for delta in deltas if delta.get("choices")]
    written = [piece for piece in pieces if piece.strip(" tick") == "" and piece]
    assert len(written) > 5, pieces
    assert "".join(pieces).startswith("tick " * 20), pieces


def test_a_picture_reaches_the_provider_and_stays_nowhere(bench, upstream):
    content = [
        {"type": "text", "text": "a prompt of long ago"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
    ]
    answer = bench.server.request(
        "POST", "/v1/chat/completions", {"model": "echoing", "messages": [{"role": "user", "content": content}]}
    )
    assert answer.status == 200, answer.json
    sent = upstream.requests[-1]
    assert PICTURE in json.dumps(sent.body)
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    redis = bench.redis.client
    eventually(lambda: not [key for key in redis.scan_iter() if b"parcel" in key], 20)
    kept = bench.redis.written()
    assert b"bench-parcel" in kept, "what went through Redis is looked for in what Redis wrote down"
    for secret in (PICTURE[:200], PICTURE[-200:], "a prompt of long ago", "No stale read", KEY):
        for form in (secret.encode(), base64.b64encode(secret.encode())[2:-4], secret.encode("unicode_escape")):
            assert form not in kept


def test_logs_and_inspection_of_workers_tell_nothing_of_a_request(bench):
    asking = threading.Thread(target=lambda: bench.server.chat("slow", "a question for nobody else"))
    asking.start()
    told = ""

    def is_running() -> bool:
        nonlocal told
        command = [sys.executable, "-m", "celery", "-A", "benchsite", "inspect", "active", "--timeout", "3"]
        done = subprocess.run(
            command, check=False, cwd=settings.BASE_DIR, env=bench.server._env(), capture_output=True, text=True, timeout=60
        )
        told = done.stdout + done.stderr
        return ASK_SEAT in told or not asking.is_alive()

    eventually(is_running)
    asking.join()
    logs = told + "".join(worker.log for worker in bench.workers) + bench.server.log
    for secret in ("a question for nobody else", "The answer is 42", KEY):
        assert secret not in logs


def test_a_job_that_comes_twice_is_asked_once(bench, upstream):
    answer = bench.server.chat("echoing", "once and no more")
    call = answer.json["bench"]["seats"][0]["call"]
    before, asked = dict(bench.calls(call.partition(".")[0])), upstream.stats["echo"]
    _queue(bench, _job(upstream, call))
    # The queue is worked off in order: what comes after it has been asked.
    _queue_is_empty(bench)
    assert bench.server.chat("pair").status == 200
    assert (upstream.stats["echo"], bench.calls(call.partition(".")[0])) == (asked, before)


def test_a_job_that_comes_twice_while_it_is_asked_is_asked_once(bench, upstream):
    asked = upstream.stats["slow-4"]
    replies = []
    asking = threading.Thread(target=lambda: replies.append(bench.server.chat("slow", "twice")))
    asking.start()
    eventually(lambda: upstream.stats["slow-4"] == asked + 1)
    (panel_id,) = bench.server.rows("SELECT panel_id FROM evidence_panel ORDER BY id DESC LIMIT 1")[0]
    _queue(bench, _job(upstream, f"{panel_id}.member1", model="slow-4"))
    asking.join()
    assert replies[0].json["bench"]["seats"][0]["status"] == "ok"
    _queue_is_empty(bench)
    assert upstream.stats["slow-4"] == asked + 1


@pytest.mark.parametrize("document", ["", "no base64 at all", "bm90IHNlYWxlZA==", None, 42, ["list"], {"job": 1}])
def test_an_unknown_message_is_refused(bench, upstream, document):
    refused = sum(worker.log.count("Refused a seat's job") for worker in bench.workers)
    _send(bench, document)
    eventually(lambda: sum(worker.log.count("Refused a seat's job") for worker in bench.workers) == refused + 1)
    assert bench.server.chat("pair").status == 200


def test_a_job_that_was_sealed_by_another_has_no_key_sent_anywhere(bench, upstream):
    asked = len(upstream.requests)
    with override_settings(SECRET_KEY="whoever else writes into Redis"):
        errand = Errand(job=_job(upstream, "p20261130-000000-0000.member1"), home="")
        document = base64.b64encode(seal(errand_as_bytes(errand), "errand")).decode()
    refused = sum(worker.log.count("Refused a seat's job") for worker in bench.workers)
    _send(bench, document)
    eventually(lambda: sum(worker.log.count("Refused a seat's job") for worker in bench.workers) == refused + 1)
    assert len(upstream.requests) == asked


def test_a_worker_with_another_secret_says_so_and_does_not_start(bench, tmp_path):
    # It takes half of all seats from the queue otherwise, and each waits for seconds until it is queued again.
    bench.server.request("GET", "/readyz")
    eventually(lambda: bench.redis.client.exists(SIGN))
    env = {**bench.server._env(), "BENCH_DATA_DIR": str(tmp_path), "BENCH_LOG_FORMAT": "json"}
    command = [sys.executable, "-m", "celery", "-A", "benchsite", "worker", "-n", "stranger@%h"]
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    said = json.loads(done.stderr)
    assert (said["level"], said["message"]) == ("CRITICAL", f"{STRANGER}. This worker does not start")


def test_a_worker_whose_metrics_port_is_taken_says_so_and_ends(bench):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        env = {**bench.server._env(), "BENCH_METRICS_PORT": str(port)}
        command = [sys.executable, "-m", "celery", "-A", "benchsite", "worker", "-n", "third@%h"]
        done = subprocess.run(command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert f"This worker cannot join the others: port {port} (BENCH_METRICS_PORT) cannot be had" in done.stderr
    assert done.returncode == 1
    assert bench.server.chat("pair").status == 200


def test_a_server_with_another_secret_takes_no_panel_and_says_why(bench, tmp_path):
    server = RunningServer(tmp_path, environment={"REDIS_URL": bench.redis.url, "BENCH_WORKER_POOL": POOL})
    server.data.make()
    server.start()
    try:
        eventually(lambda: "secret_key" in server.request("GET", "/readyz").json["checks"]["seats"], 10)
    finally:
        server.stop()
        server.data.drop()
    assert bench.server.chat("pair").status == 200


def test_a_worker_stops_when_what_it_cannot_open_is_another_bench_s(monkeypatch):
    stopped = []
    monkeypatch.setattr("gateway.workers.celery.worker.os.kill", lambda *how: stopped.append(how))
    monkeypatch.setattr("gateway.workers.celery.worker.is_stranger", lambda: False)
    leave_strangers()
    assert stopped == []
    monkeypatch.setattr("gateway.workers.celery.worker.is_stranger", lambda: True)
    leave_strangers()
    assert stopped == [(os.getpid(), signal.SIGTERM)]


def test_a_daily_job_is_done_by_a_worker(bench):
    Celery(broker=bench.redis.url).send_task("benchsite.run_job", args=["clear_sessions"], queue="bench-jobs")
    done = "SELECT outcome FROM benchsite_jobrun WHERE name = 'clear_sessions' AND outcome <> ''"
    eventually(lambda: bench.server.rows(done) == [("done",)])


def _job(upstream, call: str, model: str = "echo") -> SeatJob:
    target = Target(
        protocol="openai_chat",
        base_url=upstream.url,
        model=model,
        api_key_env="OF_THE_FAKE",
        connect_timeout=1,
        first_token_timeout=5,
        seat_timeout=5,
    )
    return SeatJob(call=call, alias="echo", target=target, messages=())


def _queue(bench, job: SeatJob) -> None:
    """Send a job as the server would."""
    with override_settings(SECRET_KEY=(bench.server.folder / "secret_key").read_text()):
        sealed = seal(errand_as_bytes(Errand(job=job, home="seats.nobody!here")), "errand")
    _send(bench, base64.b64encode(sealed).decode())


def _send(bench, document) -> None:
    Celery(broker=bench.redis.url).send_task(ASK_SEAT, args=[document], queue=SEATS)


def _queue_is_empty(bench) -> None:
    redis = bench.redis.client
    eventually(lambda: redis.llen(SEATS) == 0 and redis.hlen("unacked") == 0)
    time.sleep(0.2)
