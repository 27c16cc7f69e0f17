"""Machines that are upgraded together each run `migrate`: one does it, the others wait, and all of them end well."""

import fcntl
import os
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from benchsite.processes.migrating import LOCK, WAITS
from gateway.tests.postgres_cluster import PostgresCluster, binaries, postgres_cluster
from gateway.tests.running_server import free_port

needs_postgres = pytest.mark.skipif(not binaries(), reason="no PostgreSQL on this machine")
TOGETHER = 2


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresCluster]:
    with postgres_cluster() as server:
        yield server


def begun(folder: Path, url: str = "", *arguments: str, command: str = "migrate") -> "subprocess.Popen[str]":
    told = {"BENCH_DATA_DIR": str(folder), "DATABASE_URL": url, "REDIS_URL": "", "BENCH_WORKER_POOL": ""}
    env = {name: value for name, value in {**os.environ, **told}.items() if value or name == "DATABASE_URL"}
    asked = [sys.executable, "manage.py", command, *(["--verbosity", "0"] if command == "migrate" else []), *arguments]
    return subprocess.Popen(asked, cwd=settings.BASE_DIR, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(processes: "list[subprocess.Popen[str]]") -> list[tuple[int, str]]:
    return [(process.wait(), said) for process, (said, _) in [(one, one.communicate(timeout=120)) for one in processes]]


def says_that_it_waits(process: "subprocess.Popen[str]") -> bool:
    assert process.stdout
    assert select.select([process.stdout], [], [], 30)[0]
    return process.stdout.readline().endswith(f"INFO benchsite.processes.migrating: {WAITS}\n")


def soon(holds: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Wait until something holds while the process runs."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)


@needs_postgres
def test_two_at_once_both_find_it_done(postgres: PostgresCluster, tmp_path: Path) -> None:
    url = postgres.made("together")
    assert [code for code, _ in ended([begun(tmp_path, url) for _ in range(TOGETHER)])] == [0] * TOGETHER
    assert ended([begun(tmp_path, url, "--check")]) == [(0, "")]


def test_in_a_data_folder_it_makes_nothing_while_another_is_at_it_and_then_does(tmp_path: Path) -> None:
    with (tmp_path / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = begun(tmp_path)
        assert says_that_it_waits(waiting)
        soon(lambda: is_held_up(waiting.pid), waiting)
        with closing(sqlite3.connect(tmp_path / "bench.sqlite3")) as made:
            assert made.execute("SELECT name FROM sqlite_master").fetchall() == []
    assert ended([waiting]) == [(0, "")]
    assert ended([begun(tmp_path, "", "--check")]) == [(0, "")]


def is_held_up(pid: int) -> bool:
    """Whether it waits for a file's lock, as Linux tells."""
    return any(" -> FLOCK " in line and f" {pid} " in line for line in Path("/proc/locks").read_text().splitlines())


def test_a_server_says_that_it_waits_before_it_starts(tmp_path: Path) -> None:
    with (tmp_path / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = begun(tmp_path, command="serve")
        try:
            assert says_that_it_waits(waiting)
        finally:
            waiting.kill()
            waiting.communicate()


def test_a_statement_that_fails_is_not_taken_for_a_database_that_does_not_answer(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "bench.sqlite3")) as made:
        made.execute("CREATE TABLE django_session (id INTEGER)")
    ((code, said),) = ended([begun(tmp_path)])
    assert code == 1
    assert 'table "django_session" already exists' in said and "does not answer" not in said


@needs_postgres
def test_it_makes_nothing_while_another_is_at_it_and_then_does_and_lets_go(postgres: PostgresCluster, tmp_path: Path) -> None:
    url = postgres.made("waiting")
    with psycopg.connect(url, autocommit=True) as other, psycopg.connect(url, autocommit=True) as looking:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        waiting = begun(tmp_path, url)
        locks = "SELECT granted FROM pg_locks WHERE locktype = 'advisory' ORDER BY granted"
        assert says_that_it_waits(waiting)
        soon(lambda: looking.execute(locks).fetchall() == [(False,), (True,)], waiting)
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
