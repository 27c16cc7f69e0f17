"""A database that is busy, readers that are slow, a stop in the middle: no answer that has come is lost."""

import json
import socket
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from django.db import connection

from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import running_server

MODELS = {
    "late": {"model": "slow-0.6"},
    "echo": {"model": "echo"},
    "hung": {"model": "hung-stream"},
    "fast": {"model": "say-fast"},
}
COLLECTIONS = {"late": ["late"], "large": ["echo"], "stuck": ["fast", "hung"], "pair": ["fast", "late"]}


@pytest.fixture
def busy(upstream, tmp_path):
    bench = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path, bench, BENCH_DRAIN_SECONDS="2") as server:
        yield server


def test_a_lock_held_while_a_seat_ends_loses_no_answer(busy):
    replies: list = []
    asker = threading.Thread(target=lambda: replies.append(busy.chat("bench/late")))
    asker.start()
    time.sleep(0.4)
    with busy.data.closed_to_others():
        time.sleep(2)
    asker.join()
    assert replies[0].json["bench"]["seats"][0]["status"] == "ok"
    assert busy.rows("select status from evidence_call") == [("ok",)]


def test_a_stop_does_not_wait_for_a_database_that_is_locked(busy):
    with busy.data.closed_to_others():
        started = time.monotonic()
        assert busy.stop() == 0
        assert time.monotonic() - started < 12


@pytest.mark.skipif(connection.vendor != "sqlite", reason="copies SQLite's file")
def test_the_file_of_a_stopped_server_is_the_whole_database(busy):
    busy.chat("bench/late")
    busy.stop()
    alone = busy.folder / "copied" / "bench.sqlite3"
    alone.parent.mkdir()
    alone.write_bytes((busy.folder / "bench.sqlite3").read_bytes())
    with closing(sqlite3.connect(alone)) as copy:
        assert copy.execute("select count(*) from evidence_panel").fetchone() == (1,)


def test_a_slow_reader_gets_its_whole_reply_from_a_server_that_stops(busy):
    body = json.dumps({"model": "bench/large", "messages": [{"role": "user", "content": "x" * 3_000_000}]}).encode()
    with socket.create_connection(("127.0.0.1", busy.port), 30) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{busy.port}\r\nContent-Type: application/json\r\n"
        reader.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        received = reader.recv(1000)
        stopper = threading.Thread(target=busy.stop)
        stopper.start()
        time.sleep(0.3)
        while piece := reader.recv(200_000):
            received += piece
            if len(received) > 6_000_000 and received.endswith(b"}"):
                break
        stopper.join()
    headers, _, reply = received.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in headers.split(b"\r\n") if line.lower().startswith(b"content-length"))
    assert len(reply) == length


@pytest.mark.parametrize("stream", [False, True])
def test_who_waits_when_the_drain_ends_gets_what_has_come(busy, stream):
    replies: list = []
    asker = threading.Thread(target=lambda: replies.append(busy.chat("bench/stuck", stream=stream)))
    asker.start()
    time.sleep(0.5)
    assert busy.stop() == 0
    asker.join()
    assert replies[0].status == 200
    text = replies[0].body.decode()
    assert "## member \\u00b7 fast" in text or "## member · fast" in text
    assert "the server was stopped before this seat had answered" in text


def test_a_merge_that_a_stop_interrupts_gives_every_answer(busy):
    replies: list = []
    asked = {"bench": {"merger": "hung"}}
    asker = threading.Thread(target=lambda: replies.append(busy.chat("bench/pair:merged", **asked)))
    asker.start()
    time.sleep(1.2)
    assert busy.stop() == 0
    asker.join()
    assert replies[0].json["bench"]["note"].startswith("Interrupted:")
    assert [seat["status"] for seat in replies[0].json["bench"]["seats"]] == ["ok", "ok"]


def test_a_whole_url_is_a_target_and_its_host_the_one_that_counts(busy):
    for host, status in ((f"127.0.0.1:{busy.port}", b"200"), ("evil.example", b"403")):
        with socket.create_connection(("127.0.0.1", busy.port), 10) as connection:
            target = f"GET http://{host}/v1/models HTTP/1.1\r\nHost: 127.0.0.1:{busy.port}\r\nConnection: close\r\n\r\n"
            connection.sendall(target.encode())
            reply = b"".join(iter(lambda: connection.recv(65536), b""))
        assert reply.split(b" ")[1] == status
