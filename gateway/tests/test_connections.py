"""However many seats think, the database has a few connections: nobody who waits for a model holds one."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.db import connection

from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import celery_bench, eventually, needs_redis
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

PANELS = 200
# Longer than any test: they answer when the upstream closes.
MODELS = {"thinking": {"model": "slow-headers-600"}, "pondering": {"model": "slow-headers-601"}}
BENCH = {"both": list(MODELS)}
# Of one process: the ledger's, those of who watches and of who does jobs, and one of who serves pages.
A_HANDFUL = 8
HELD = (
    "select count(*), count(*) filter (where state like 'idle in%') from pg_stat_activity where application_name = 'benchsite'"
)


def bench_of(upstream: FakeUpstream) -> str:
    return bench_file(upstream.url, MODELS, BENCH) + "\n[limits]\nmax_explorers = 0\n"


def held_while_all_think(server: RunningServer, upstream: FakeUpstream, pids: Iterable[int]) -> tuple[int, int]:
    """How many connections there are once every seat of every panel is being asked, and how many of them in a transaction."""
    with ThreadPoolExecutor(PANELS) as callers:
        asked = [callers.submit(server.chat, "bench/both", f"Question {number}") for number in range(PANELS)]
        with upstream:
            eventually(lambda: sum(upstream.stats.values()) >= PANELS * len(MODELS))
            held = connections(server, pids)
        replies = [one.result() for one in asked]
    assert [reply.status for reply in replies] == [200] * PANELS
    assert all(seat["status"] == "ok" for reply in replies for seat in reply.json["bench"]["seats"])
    return held


def connections(server: RunningServer, pids: Iterable[int]) -> tuple[int, int]:
    if connection.vendor == "postgresql":
        return server.rows(f"{HELD} and datname = current_database()")[0]
    database = str(server.folder / "bench.sqlite3")
    return sum(name == database for pid in pids for name in open_files(pid)), 0


def open_files(pid: int) -> Iterator[str]:
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            yield os.readlink(file)
        except FileNotFoundError:
            continue


def test_a_handful_of_connections_while_200_panels_think(tmp_path):
    upstream = FakeUpstream()
    with running_server(tmp_path, bench_of(upstream), BENCH_SEAT_WORKERS="400") as server:
        held, in_transaction = held_while_all_think(server, upstream, [server.process.pid])
    assert 1 <= held <= A_HANDFUL
    assert in_transaction == 0


def test_pages_leave_no_connection_behind(tmp_path):
    with running_server(tmp_path, bench_of(FakeUpstream())) as server:
        for _ in range(3 * A_HANDFUL):
            # A session that is looked for in the database.
            assert server.request("GET", "/admin/", headers={"Cookie": "sessionid=nobodys"}).status in (200, 302)
        held, in_transaction = connections(server, [server.process.pid])
    assert 1 <= held <= A_HANDFUL
    assert in_transaction == 0


@needs_redis
def test_a_handful_for_each_process_where_workers_ask(tmp_path):
    upstream = FakeUpstream()
    with celery_bench(tmp_path, bench_of(upstream), workers=2, BENCH_SEAT_WORKERS="200") as bench:
        pids = [bench.server.process.pid, *(worker.pid for worker in bench.workers)]
        held, in_transaction = held_while_all_think(bench.server, upstream, pids)
    assert len(pids) <= held <= A_HANDFUL * len(pids)
    assert in_transaction == 0
