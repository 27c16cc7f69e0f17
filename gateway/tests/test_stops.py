"""Stops: clean ones drain, killed ones lose no finished answer, and a full or stopping server says so."""

import signal
import threading
import time

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import RunningServer, running_server

MODELS = {"fast": {"model": "say-done"}, "late": {"model": "slow-1.5"}, "hung": {"model": "hung-stream"}}
MANY = {f"m{n}": {"model": f"say-one-of-eleven-{n}"} for n in range(11)}
COLLECTIONS = {"short": ["fast", "late"], "long": ["fast", "hung"], "many": list(MANY)}


@pytest.fixture
def own_server(upstream, tmp_path):
    bench = bench_file(upstream.url, MODELS | MANY, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path, bench, BENCH_DRAIN_SECONDS="6", BENCH_SEAT_WORKERS="2") as server:
        yield server


def ask_in_background(server: RunningServer, model: str, **fields) -> tuple[threading.Thread, list]:
    replies: list = []

    def ask() -> None:
        try:
            replies.append(server.chat(model, **fields))
        except OSError as error:
            replies.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_for_running(server)
    return thread, replies


def seats(server: RunningServer) -> list[tuple]:
    return server.rows("select seat_name, status, error_kind, answer from evidence_call order by id")


def wait_for_running(server: RunningServer) -> None:
    deadline = time.monotonic() + 8
    while time.monotonic() < deadline:
        if ("member1", "ok") in [row[:2] for row in seats(server)]:
            return
        time.sleep(0.02)
    raise AssertionError(seats(server))


def test_a_clean_stop_lets_running_panels_end(own_server):
    thread, replies = ask_in_background(own_server, "bench/short")
    assert own_server.stop() == 0
    thread.join()
    assert replies[0].status == 200
    assert [seat["status"] for seat in replies[0].json["bench"]["seats"]] == ["ok", "ok"]


def test_a_stopping_server_takes_no_new_panels(own_server):
    thread, _ = ask_in_background(own_server, "bench/short", stream=True)
    own_server.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    refused = own_server.chat("bench/short")
    assert (refused.status, "stopping" in refused.json["error"]["message"]) == (503, True)
    assert int(refused.headers["retry-after"]) > 0
    thread.join()
    assert own_server.process.wait(10) == 0


def test_what_outlasts_the_drain_is_recorded_as_interrupted(own_server):
    thread, _ = ask_in_background(own_server, "bench/long")
    started = time.monotonic()
    assert own_server.stop() == 0
    assert time.monotonic() - started > 5.5
    thread.join()
    assert seats(own_server) == [("member1", "ok", "", "done "), ("member2", "error", "interrupted", "")]


def test_a_second_signal_stops_at_once(own_server):
    thread, _ = ask_in_background(own_server, "bench/long")
    own_server.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    started = time.monotonic()
    own_server.stop()
    assert time.monotonic() - started < 5
    thread.join()


def test_killed_in_mid_panel_keeps_what_had_finished(own_server):
    thread, _ = ask_in_background(own_server, "bench/long")
    own_server.stop(signal.SIGKILL)
    thread.join()
    assert [row[:2] for row in seats(own_server)] == [("member1", "ok"), ("member2", "running")]
    own_server.start()
    assert seats(own_server) == [("member1", "ok", "", "done "), ("member2", "error", "interrupted", "")]
    panel = own_server.rows("select panel_id from evidence_panel")[0][0]
    assert own_server.request("GET", f"/bench/panels/{panel}").json["status"] == "interrupted"


def test_a_full_server_refuses_with_a_wait_and_recovers(own_server, upstream):
    """Two workers and a queue of four to each: ten seats, of which five panels take all."""
    replies: list = []
    threads = [threading.Thread(target=lambda: replies.append(own_server.chat("bench/short"))) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(reply.status for reply in replies) == [200] * 5 + [503] * 4
    full = next(reply for reply in replies if reply.status == 503)
    assert int(full.headers["retry-after"]) > 0
    assert "BENCH_SEAT_WORKERS" in full.json["error"]["message"]
    assert own_server.rows("select count(*) from evidence_panel") == [(5,)]
    assert own_server.chat("bench/short").status == 200
    # Room for ten is none for eleven: a panel is refused whole, before anybody is asked.
    assert own_server.chat("bench/many").status == 503
    assert not upstream.stats.keys() & {fields["model"] for fields in MANY.values()}
    assert own_server.rows("select count(*) from evidence_panel") == [(6,)]


def test_a_second_server_on_the_same_folder_or_port_is_refused(own_server, tmp_path):
    second = own_server.manage("serve")
    assert second.returncode == 1
    assert "BENCH_DATA_DIR" in second.stderr
    folder = tmp_path / "other"
    folder.mkdir()
    third = RunningServer(folder, port=own_server.port)
    third.data.make()
    refused = third.manage("serve")
    assert refused.returncode == 1
    assert f"Port {own_server.port} is taken" in refused.stderr
    assert own_server.chat("bench/short").status == 200


def test_a_network_address_is_refused(tmp_path):
    refused = RunningServer(tmp_path, environment={"BENCH_BIND": "0.0.0.0"}).manage("serve")
    assert refused.returncode == 1
    assert "BENCH_BIND" in refused.stderr


def test_it_says_whether_it_is_alive_and_can_work(own_server):
    for path in ("/healthz", "/readyz"):
        reply = own_server.request("GET", path)
        assert (reply.status, reply.json["status"]) == (200, "ok")
