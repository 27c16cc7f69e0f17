"""A worker that is started before the first migrations, as an orchestrator starts all at once, joins when they are there."""

import pytest

from collections_app.tests.own_database import InPostgres
from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import POOL, OwnRedis, Worker, eventually, needs_redis
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.postgres_cluster import binaries, postgres_cluster
from gateway.tests.running_server import RunningServer

# SQLite says of a table that is not there what it says of a database that is away; PostgreSQL says something else.
pytestmark = [needs_redis, pytest.mark.skipif(not binaries(), reason="no PostgreSQL on this machine")]


def test_a_worker_that_found_no_tables_asks_seats_once_they_are_made(tmp_path):
    redis = OwnRedis(tmp_path / "redis")
    redis.folder.mkdir()
    with postgres_cluster() as postgres, FakeUpstream() as upstream:
        database = InPostgres(tmp_path, postgres.url("postgres"))
        postgres.made(database.name)
        told = {"REDIS_URL": redis.url, "BENCH_WORKER_POOL": POOL}
        server = RunningServer(tmp_path, environment=told, options=("--web",), own=database)
        worker = Worker(server, 1)
        bench = tmp_path / "bench.toml"
        bench.write_text(bench_file(upstream.url, {"one": {"model": "say-One."}}, {"alone": ["one"]}))
        try:
            redis.start()
            worker.start()
            eventually(lambda: "ProgrammingError" in worker.log)
            for command in (["migrate"], ["load_bench", str(bench)]):
                assert server.manage(*command).returncode == 0
            eventually(lambda: server.rows("SELECT name FROM evidence_process"), 20)
            server.start()
            assert server.chat("bench/alone").json["bench"]["seats"][0]["status"] == "ok"
        finally:
            worker.stop()
            if server.process:
                server.stop()
            redis.stop()
