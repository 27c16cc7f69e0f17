"""Machines that are upgraded together each run `migrate`: one does it, the others wait, and all of them end well."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from benchsite.processes.migrating import LOCK
from gateway.tests.postgres_cluster import PostgresCluster, binaries, postgres_cluster
from gateway.tests.running_server import free_port

needs_postgres = pytest.mark.skipif(not binaries(), reason="no PostgreSQL on this machine")
TOGETHER = 2


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresCluster]:
    with postgres_cluster() as server:
        yield server


def begun(folder: Path, url: str = "", *arguments: str) -> "subprocess.Popen[str]":
    told = {"BENCH_DATA_DIR": str(folder), "DATABASE_URL": url, "REDIS_URL": "", "BENCH_WORKER_POOL": ""}
    env = {name: value for name, value in {**os.environ, **told}.items() if value or name == "DATABASE_URL"}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", *arguments]
    return subprocess.Popen(
        command, cwd=settings.BASE_DIR, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def ended(processes: "list[subprocess.Popen[str]]") -> list[tuple[int, str]]:
    return [(process.wait(), said) for process, (said, _) in [(one, one.communicate(timeout=120)) for one in processes]]


@needs_postgres
def test_two_at_once_both_find_it_done(postgres: PostgresCluster, tmp_path: Path) -> None:
    url = postgres.made("together")
    assert ended([begun(tmp_path, url) for _ in range(TOGETHER)]) == [(0, "")] * TOGETHER
    assert ended([begun(tmp_path, url, "--check")]) == [(0, "")]


def test_two_at_once_in_a_data_folder_both_find_it_done(tmp_path: Path) -> None:
    assert ended([begun(tmp_path) for _ in range(TOGETHER)]) == [(0, "")] * TOGETHER
    assert ended([begun(tmp_path, "", "--check")]) == [(0, "")]


@needs_postgres
def test_it_makes_nothing_while_another_is_at_it_and_then_does_and_lets_go(postgres: PostgresCluster, tmp_path: Path) -> None:
    url = postgres.made("waiting")
    with psycopg.connect(url, autocommit=True) as other, psycopg.connect(url, autocommit=True) as looking:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        waiting = begun(tmp_path, url)
        locks = "SELECT granted FROM pg_locks WHERE locktype = 'advisory' ORDER BY granted"
        deadline = time.monotonic() + 30
        while looking.execute(locks).fetchall() != [(False,), (True,)]:
            assert time.monotonic() < deadline and waiting.poll() is None
            time.sleep(0.05)
        # It has made nothing while it waits.
        assert looking.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchall() == [(0,)]
        other.close()
        assert ended([waiting]) == [(0, "")]
        assert looking.execute(locks).fetchall() == []


def test_a_database_that_does_not_answer_is_said_in_a_line_without_its_password(tmp_path: Path) -> None:
    url = f"postgres://bench:secret-word@127.0.0.1:{free_port()}/bench"
    ((code, said),) = ended([begun(tmp_path, url)])
    assert code == 1
    assert said.startswith("CommandError: the database does not answer: ")
    assert "Traceback" not in said and "secret-word" not in said
