"""Benches that differ in the length of their log alone, each in a folder of its own, on SQLite or in a PostgreSQL."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.processes import ROOT, StartError
from benchmarks.server import Product

# Beside the benchmark's own: the look for the stalest is one in the log for each model that may explore.
EXPLORERS = 40
FILL = "import django; django.setup(); from benchmarks.growth.log import make; make({calls})"
PLAN = "import django; django.setup(); from benchmarks.growth.log import plan; print(plan())"


class Site(Product):
    """A bench with a log of so many calls."""

    def __init__(self, folder: Path, upstream_url: str, *, calls: int, database_url: str = "") -> None:
        folder.mkdir()
        super().__init__(folder, upstream_url)
        self.calls = calls
        self._database_url = database_url
        more = [
            f'[models.y{number}-{51 + number}]\nendpoint = "mock"\nmodel = "y{number}-{51 + number}"\nfamily = ["y{number}"]'
            for number in range(EXPLORERS)
        ]
        with (folder / "bench.toml").open("a") as bench:
            bench.write("\n".join(more) + "\n")

    def prepare(self) -> None:
        """Migrate, load the roster and write the log. Raises StartError."""
        self._manage("migrate", "--verbosity", "0")
        self._manage("load_bench", str(self.folder / "bench.toml"))
        started = time.perf_counter()
        self._run("-c", FILL.format(calls=self.calls))
        # Or the disk is still busy with a gigabyte of it while the first panels are asked.
        os.sync()
        print(f"a log of {self.calls:,} calls, made in {time.perf_counter() - started:.0f} s", flush=True)

    def plan(self) -> str:
        """How its database looks for the stalest. Raises StartError."""
        return self._run("-c", PLAN).strip()

    @contextmanager
    def pruning(self, days: int) -> Iterator[subprocess.Popen[str]]:
        """What forgets all but so many days of it, under way."""
        command = [sys.executable, "manage.py", "prune_log", "--days", str(days)]
        process = subprocess.Popen(command, cwd=ROOT, env=self._env(), stdout=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def pages(self) -> int:
        """Visit every page of its dashboard; the exit code of who did."""
        command = [sys.executable, "-m", "benchmarks.pages", str(self.folder)]
        return subprocess.run(command, cwd=ROOT, env=self._env(), check=False).returncode

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self._env(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise StartError(f"The log was not made, or not read:\n{done.stderr[-4000:]}")
        return done.stdout

    def _env(self, **extra: str) -> dict[str, str]:
        return super()._env(**{"DATABASE_URL": self._database_url, "DJANGO_SETTINGS_MODULE": "benchsite.settings"} | extra)
