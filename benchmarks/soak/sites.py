"""The bench that is soaked: one process as installed, or the cluster; its processes, its pages, its call log.

Asks nothing and judges nothing.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Protocol

import psutil
import psycopg

from benchmarks.cluster.topology import Cluster
from benchmarks.processes import Server, tree_of
from benchmarks.roster import FIVE
from benchmarks.server import Product

# The one seat that is meant to fail, of a model that the upstream does not know.
FAILING = "gone"
SEEING = ("see-55", "see-70", "see-95")
NO_JOBS = {"BENCH_DAILY_JOBS": "0"}


class Soaked(Protocol):
    """`url` is where callers ask, `page_url` where a browser of this machine looks."""

    folder: Path
    url: str
    page_url: str

    def processes(self) -> Mapping[str, Sequence[psutil.Process]]:
        """By part, each with its children."""

    def rows(self, query: str) -> list[tuple[str | int, ...]]:
        """What its call log answers."""


class OneProcess(Product):
    """`manage.py serve` on SQLite, settings as installed; to be entered."""

    def __init__(self, folder: Path, upstream_url: str) -> None:
        super().__init__(folder, upstream_url)
        _add_to_roster(folder)
        self._stack = ExitStack()

    def __enter__(self) -> "OneProcess":
        self.prepare()
        self._server: Server = self._stack.enter_context(self.serving())
        self.url = self.page_url = self._server.url
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def processes(self) -> Mapping[str, Sequence[psutil.Process]]:
        return {"serve": list(tree_of(self._server.pid))}

    def rows(self, query: str) -> list[tuple[str | int, ...]]:
        with closing(sqlite3.connect(self.folder / "bench.sqlite3", timeout=30)) as log:
            return log.execute(query).fetchall()


class Several(Cluster):
    """Two web processes and two workers; pages are looked at on the first, as a browser of this machine does."""

    def __init__(self, folder: Path, upstream_url: str) -> None:
        super().__init__(folder, upstream_url, **NO_JOBS)
        _add_to_roster(folder)
        self.page_url = f"http://127.0.0.1:{self.web_ports[0]}"

    def processes(self) -> Mapping[str, Sequence[psutil.Process]]:
        return {name: list(part.tree()) for name, part in self.parts.items()}

    def rows(self, query: str) -> list[tuple[str | int, ...]]:
        with psycopg.connect(self.database_url) as log:
            return log.execute(query.encode()).fetchall()


def _add_to_roster(folder: Path) -> None:
    """Collections that merge, that see, and of which one seat always fails."""
    model = partial('[models.{0}]\nendpoint = "mock"\nmodel = "{0}"\nfamily = ["{0}"]\nstatus = "retiring"'.format)
    lines = [model(FAILING)]
    lines += [f"{model(name)}\nvision = true" for name in SEEING]
    for name, members, more in (
        ("merge", FIVE[:3], 'reply = "merged"'),
        ("see", SEEING, 'shape = "vision"'),
        ("partly", (*FIVE[:2], FAILING), 'shape = "general"'),
    ):
        listed = ", ".join(f'"{member}"' for member in members)
        lines += [f"[collections.{name}]", f"members = [{listed}]", 'description = "Soak"', more]
    with (folder / "bench.toml").open("a") as roster:
        roster.write("\n".join(lines) + "\n")
