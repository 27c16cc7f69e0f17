"""The benches that faults are done to: the cluster with a provider that writes down its calls, and one `serve` on SQLite.

Both are entered, and have `url`, `parts`, and `rows`, which asks their database.
"""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.cluster.parts import Part, listens
from benchmarks.cluster.topology import Cluster
from benchmarks.faults import roster
from benchmarks.processes import DIRECT, Server, free_port
from benchmarks.server import Product, plain_environment
from gateway.tests.postgres_cluster import PostgresCluster

Rows = list[tuple[Any, ...]]


class RecordingUpstream(Server):
    """The provider, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.record = folder / "calls.jsonl"
        command = ["-m", "benchmarks.faults.upstream", "--port", "{port}", "--record", str(self.record)]
        super().__init__("upstream", command, log=folder / "upstream.log", env=plain_environment(os.environ))

    def hush(self, silent: bool) -> None:
        """From now on, accept calls and answer none, or answer again."""
        body = json.dumps({"silent": silent}).encode()
        asked = urllib.request.Request(f"{self.url}/hush", body, {"Content-Type": "application/json"})
        DIRECT.open(asked, timeout=5).close()

    def events(self, tag: str) -> list[dict[str, Any]]:
        """What happened to calls of this tag's questions."""
        lines = (json.loads(line) for line in self.record.read_text().splitlines())
        return [event for event in lines if event["mark"].startswith(f"q-{tag}-")]


class FaultyCluster(Cluster):
    """The cluster with seats that end soon. `data` is where PostgreSQL has its files."""

    def __init__(self, folder: Path, upstream_url: str, data: Path) -> None:
        super().__init__(folder, upstream_url, BENCH_SEAT_TIMEOUT=str(roster.SEAT_TIMEOUT), BENCH_DAILY_JOBS="0")
        (folder / "bench.toml").write_text(roster.bench_toml(upstream_url))
        self.data = data

    def rows(self, statement: str, *values: object) -> Rows:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            return connection.execute(statement.encode(), values).fetchall()

    def _database_server(self, found: Path) -> PostgresCluster:
        # Small enough that a folder of a few hundred megabytes is filled by others alone.
        settings = {"fsync": "on", "full_page_writes": "on", "max_wal_size": "96MB", "min_wal_size": "32MB"}
        return PostgresCluster(found, within=self.data, **settings)


class Alone(Product):
    """One `serve` with everything in one folder, as installed."""

    def __init__(self, folder: Path, log: Path, upstream_url: str) -> None:
        super().__init__(folder, upstream_url)
        (folder / "bench.toml").write_text(roster.bench_toml(upstream_url))
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.data = folder
        env = self._env(BENCH_PORT=str(port), BENCH_SEAT_TIMEOUT=str(roster.SEAT_TIMEOUT))
        serve = Part("serve", [sys.executable, "manage.py", "serve"], log=log, ready=partial(listens, port), env=env)
        self.parts = {"serve": serve}

    def __enter__(self) -> "Alone":
        self.prepare()
        self.parts["serve"].start()
        return self

    def __exit__(self, *_: object) -> None:
        self.parts["serve"].stop()

    def rows(self, statement: str, *values: object) -> Rows:
        with contextlib.closing(sqlite3.connect(self.folder / "bench.sqlite3", timeout=10)) as connection:
            return connection.execute(statement.replace("%s", "?"), values).fetchall()


Bench = FaultyCluster | Alone


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """Have `folder` on a disk of that size while the block runs; False where this may not be done here."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", str(folder)]
    mounted = shutil.which("mount") is not None and _runs(mount)
    try:
        yield mounted
    finally:
        if mounted:
            _runs(["umount", str(folder)])


def _runs(command: list[str]) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
