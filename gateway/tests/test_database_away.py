"""A PostgreSQL that is restarted, or crashes, while panels are asked: callers are told, and no answer that came is lost."""

import signal
import threading
import time

import psycopg
import pytest

from collections_app.tests.own_database import InPostgres
from gateway.tests.bench_file import bench_file
from gateway.tests.postgres_cluster import binaries, postgres_cluster
from gateway.tests.running_server import RunningServer

pytestmark = pytest.mark.skipif(binaries() is None, reason="no PostgreSQL on this machine")

MODELS = {"fast": {"model": "say-fast"}, "slow": {"model": "slow-3"}, "slower": {"model": "slow-4"}}
COLLECTIONS = {"pair": ["fast", "slow"], "late": ["slow", "slower"], "quick": ["fast"]}
ASKED = 8
IN_FLIGHT, MOST_CONNECTIONS = 200, 8


@pytest.fixture(scope="module")
def cluster():
    with postgres_cluster() as running:
        yield running


@pytest.fixture
def bench(cluster, upstream, tmp_path):
    room = {"BENCH_SEAT_WORKERS": str(2 * IN_FLIGHT)}
    server = RunningServer(tmp_path, environment=room, own=InPostgres(tmp_path, cluster.url()))
    server.load(bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n")
    server.start()
    yield server
    server.stop()
    server.data.drop()


def asking(server, name, times):
    """Ask so often at once, in threads that are given back with a list that their answers go into."""
    replies: list = []
    askers = [threading.Thread(target=lambda: replies.append(server.chat(f"bench/{name}"))) for _ in range(times)]
    for asker in askers:
        asker.start()
    return askers, replies


def read_only(cluster, said):
    """Have the server take no writes, as one that has become another's standby."""
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as told:
        told.execute(f"alter system set default_transaction_read_only = {said}")
        told.execute("select pg_reload_conf()")


def wait_until(true):
    deadline = time.monotonic() + 60
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert true()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["stopped", "killed"])
def test_answers_that_come_while_it_is_away_are_written_when_it_is_back(bench, cluster, upstream, number):
    before = len(upstream.requests)
    askers, replies = asking(bench, "pair", ASKED)
    ended = "select count(*) from evidence_call where status = 'ok'"
    wait_until(lambda: bench.rows(ended) == [(ASKED,)])
    cluster.stop(number)
    refused = bench.chat("bench/quick")
    assert (refused.status, "retry-after" in refused.headers) == (503, True)
    assert "The database does not answer" in refused.body.decode()
    assert bench.request("GET", "/healthz").status == 200
    # The slow seats end meanwhile, and are tried again more than once.
    wait_until(lambda: bench.log.count("The database does not take") > 2)
    cluster.start()
    for asker in askers:
        asker.join()
    assert [reply.status for reply in replies] == [200] * ASKED
    seats = [seat for reply in replies for seat in reply.json["bench"]["seats"]]
    assert {(seat["status"], seat["error"]) for seat in seats} == {("ok", "")}
    assert bench.rows("select status, count(*) from evidence_call group by 1") == [("ok", 2 * ASKED)]
    assert len(upstream.requests) - before == 2 * ASKED


def test_answers_that_come_while_it_can_only_be_read_are_written_when_it_takes_them(bench, cluster, upstream):
    askers, replies = asking(bench, "pair", ASKED)
    ended = "select count(*) from evidence_call where status = 'ok'"
    wait_until(lambda: bench.rows(ended) == [(ASKED,)])
    read_only(cluster, "on")
    try:
        # Of connections that were there before, and of new ones.
        for _ in range(12):
            refused = bench.chat("bench/quick")
            assert (refused.status, "retry-after" in refused.headers) == (503, True), refused.body
        wait_until(lambda: bench.log.count("The database does not take") > 2)
        ready = bench.request("GET", "/readyz")
        assert (ready.status, ready.json["checks"]["database"]) == (503, "takes nothing: it is read-only")
    finally:
        read_only(cluster, "off")
    for asker in askers:
        asker.join()
    seats = [seat for reply in replies for seat in reply.json["bench"]["seats"]]
    assert {(seat["status"], seat["error"]) for seat in seats} == {("ok", "")}
    assert bench.rows("select status, count(*) from evidence_call group by 1") == [("ok", 2 * ASKED)]


def test_a_connection_that_a_restart_closed_costs_no_caller_anything(bench, cluster):
    assert bench.chat("bench/quick").status == 200
    cluster.stop()
    cluster.start()
    time.sleep(1.5)
    assert bench.chat("bench/quick").status == 200
    assert bench.request("GET", "/admin/").status == 200


def test_panels_in_flight_hold_no_connection(bench, cluster):
    askers, replies = asking(bench, "late", IN_FLIGHT)
    count = "select count(*), count(*) filter (where state like 'idle in%%') from pg_stat_activity where datname = %s"
    running = "select count(*) from evidence_call where status = 'running'"
    wait_until(lambda: bench.rows(running) == [(2 * IN_FLIGHT,)])
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as looking:
        held, _ = looking.execute(count, [bench.data.name]).fetchone()
        # The last rows may just be going in; a seat that held a transaction would do so until it has its answer.
        wait_until(lambda: looking.execute(count, [bench.data.name]).fetchone()[1] == 0)
        assert bench.rows(running) == [(2 * IN_FLIGHT,)]
    for asker in askers:
        asker.join()
    assert {reply.status for reply in replies} == {200}
    assert held <= MOST_CONNECTIONS
