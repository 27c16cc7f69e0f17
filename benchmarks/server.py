"""The product under measurement: a data folder of its own, migrated and loaded, then `manage.py serve` on a free port.

Nothing of the machine's own configuration or data is read or written.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.processes import ROOT, Server, StartError, free_port
from benchmarks.roster import bench_toml


class Product:
    """A prepared data folder, from which servers start."""

    def __init__(self, folder: Path, upstream_url: str, *, explorers: int = 2) -> None:
        self.folder = folder
        (folder / "bench.toml").write_text(bench_toml(upstream_url, explorers=explorers))

    def prepare(self) -> None:
        """Migrate, then load the roster. Raises StartError."""
        self._manage("migrate", "--verbosity", "0")
        # A DATABASE_URL in .env must not lead the roster into a database that somebody uses.
        if not list(self.folder.glob("*.sqlite3")):
            raise StartError("The product did not make its database in the benchmark's folder; nothing was loaded.")
        self._manage("load_bench", str(self.folder / "bench.toml"))

    def serving(self, *, seat_workers: int | None = None, profile: Path | None = None) -> Server:
        """A server of this folder, to be entered: settings as installed, or with so many seat workers."""
        port = free_port()
        env = self._env(BENCH_PORT=str(port))
        if seat_workers:
            env["BENCH_SEAT_WORKERS"] = str(seat_workers)
        command = ["-m", "benchmarks.profiled", str(profile)] if profile else ["manage.py"]
        return Server("product", [*command, "serve"], log=self.folder / "product.log", env=env, port=port)

    def _manage(self, *command: str) -> str:
        """Run it, and return what it printed. Raises StartError."""
        done = subprocess.run(
            [sys.executable, "manage.py", *command], cwd=ROOT, env=self._env(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise StartError(f"manage.py {command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    def _env(self, **extra: str) -> dict[str, str]:
        """The environment without the machine's own BENCH settings, those of .env overridden too."""
        ours = {
            "BENCH_BIND": "127.0.0.1",
            "BENCH_DATA_DIR": str(self.folder),
            "BENCH_LOCAL_MODEL": "0",
            "BENCH_DAILY_JOBS": "0",
            "BENCHWARMERS_REQUIRE_KEYS": "0",
            "BENCHWARMERS_ADMIN_TOKEN": "",
            "DATABASE_URL": "",
            "REDIS_URL": "",
        }
        return {**plain_environment(os.environ), **ours, **extra}


def plain_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if not name.startswith(("BENCH_", "BENCHWARMERS_"))}
