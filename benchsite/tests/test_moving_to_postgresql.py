"""A bench on SQLite goes on in PostgreSQL by the commands of docs/deployment.md: nothing asked or judged is lost."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings

from collections_app.tests.own_database import InFolder
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.postgres_cluster import PostgresCluster, binaries, postgres_cluster
from gateway.tests.running_server import RunningServer

pytestmark = pytest.mark.skipif(not binaries(), reason="no PostgreSQL on this machine")

DOCUMENTED = re.compile(r"^manage ((?:dumpdata|migrate)(?:.*\\\n)*.*)$", re.MULTILINE)
IN_THE_DOCS = "/var/lib/benchsite/moving.jsonl"
LEFT_BEHIND = {"django_migrations", "django_session", "evidence_process", "sqlite_sequence"}
MODELS = {"one": {"model": "say-One."}, "two": {"model": "say-Two."}}


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresCluster]:
    with postgres_cluster() as server:
        yield server


def documented(file: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Arguments of manage.py, as the page has them: before DATABASE_URL is set, and after."""
    page = (settings.BASE_DIR / "docs/deployment.md").read_text().replace(IN_THE_DOCS, str(file))
    before, after = (said.replace("\\\n", " ").split(" && ") for said in DOCUMENTED.findall(page))
    after = [said.removeprefix("manage ") for said in after if not said.startswith("rm ")]
    return [shlex.split(said) for said in before], [shlex.split(said) for said in after]


def done(bench: RunningServer, commands: list[list[str]]) -> str:
    said = [bench.manage(*arguments) for arguments in commands]
    assert [one.returncode for one in said] == [0] * len(commands), said
    return said[-1].stdout


def tables(bench: RunningServer) -> list[str]:
    return [name for (name,) in bench.rows("SELECT name FROM sqlite_master WHERE type = 'table'") if name not in LEFT_BEHIND]


def counted(execute: Callable[[str], Any], tables: list[str]) -> dict[str, int]:
    return {table: execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


def test_a_bench_moves_to_postgresql_with_everything_it_had(postgres, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    url = postgres.made("moved")
    old, new = RunningServer(folder, own=InFolder(folder)), RunningServer(folder, environment={"DATABASE_URL": url})
    before, after = documented(tmp_path / "moving.jsonl")
    with FakeUpstream() as upstream:
        old.load(bench_file(upstream.url, MODELS, {"pair": ["one", "two"]}))
        old.manage("create_key", "app", "--collections", "pair")
        old.start()
        call = old.chat("bench/pair").json["bench"]["seats"][0]["call"]
        old.stop()
        old.manage("verdict", call, "--useful", "--real", "it is one")
        evidence = old.manage("export_evidence", "--format", "csv").stdout
        with old.database() as rows:
            had = counted(rows.execute, tables(old))

        done(old, before)
        assert "equal the log" in done(new, after)
        with psycopg.connect(url, autocommit=True) as moved:
            assert counted(moved.execute, list(had)) == had
            assert new.manage("export_evidence", "--format", "csv").stdout == evidence
            new.start()
            try:
                # New rows come behind those that were brought.
                assert new.chat("bench/pair").status == 200
                assert counted(moved.execute, ["evidence_panel"]) == {"evidence_panel": had["evidence_panel"] + 1}
            finally:
                new.stop()
