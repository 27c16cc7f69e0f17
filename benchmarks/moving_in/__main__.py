"""Moving in from the predecessor: a folder of 50,000 offloads and 10,000 panels, brought over twice.

Run as `python -m benchmarks.moving_in`. Exits 1 when the first run takes longer, or more memory, than it may, when the second
changes a row, or when what is counted is not what the log says.
"""

import argparse
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.moving_in.generated import OFFLOADS, PANELS, write_folder

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS, MOST_MIB = 60.0, 300.0


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the command in a process of its own: seconds, of the clock and of the processor, and the most memory held."""

    seconds: float
    cpu: float
    mib: float
    told: dict[str, Any]

    def count(self, name: str) -> int:
        return sum(file[name] for file in self.told["files"])


def main() -> int:
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="benchsite-moving-in-") as made:
        folder, data = Path(made) / "predecessor", Path(made) / "data"
        data.mkdir()
        written = write_folder(folder, args.panels, args.offloads)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(f"{written.panels:,} panels and {written.offloads:,} lines of offloads, {size / 1e6:,.0f} MB")
        manage(data, "migrate", "--verbosity", "0")
        dry = run(data, folder, "--dry-run")
        first = run(data, folder)
        before = rows(data)
        second = run(data, folder)
        agree = manage(data, "check_tallies")
        return report(dry, first, second, before, rows(data), agree)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.moving_in", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--panels", type=int, default=PANELS)
    parser.add_argument("--offloads", type=int, default=OFFLOADS)
    return parser.parse_args()


def manage(data: Path, *command: str) -> str:
    environment = {**os.environ, "BENCH_DATA_DIR": str(data)}
    done = subprocess.run(
        [sys.executable, "manage.py", *command], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True
    )
    return done.stdout.decode().strip()


def run(data: Path, folder: Path, *options: str) -> Run:
    command = [sys.executable, "manage.py", "import_benchwarmers", str(folder), "--json", *options]
    started = time.perf_counter()
    child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "BENCH_DATA_DIR": str(data)}, stdout=subprocess.PIPE)
    assert child.stdout
    told = child.stdout.read()
    # Of this child alone, and not of the largest there was.
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(child.returncode)
    return Run(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, json.loads(told))


def rows(data: Path) -> dict[str, tuple[int, str]]:
    """How many rows every table has, and a hash of them all."""
    database = sqlite3.connect(f"file:{data / 'bench.sqlite3'}?mode=ro", uri=True)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    found = {}
    for table in tables:
        digest, count = hashlib.sha256(), 0
        for row in database.execute(f'SELECT * FROM "{table}" ORDER BY 1'):
            digest.update(repr(row).encode())
            count += 1
        found[table] = (count, digest.hexdigest())
    database.close()
    return found


def report(dry: Run, first: Run, second: Run, *states: Any) -> int:
    before, after, agree = states
    changed = [table for table in after if before.get(table) != after[table]]
    same = dry.told["files"] == first.told["files"]
    counts = ", ".join(f"{before[f'evidence_{name}'][0]:,} {name}s" for name in ("panel", "call", "verdict"))
    for name, run in (("dry run", dry), ("first run", first), ("second run", second)):
        told = f"{run.count('new'):>6,} new {run.count('left_out'):>4} left out"
        print(f"{name:<11} {run.seconds:6.1f} s {run.cpu:6.1f} s of CPU {run.mib:6.0f} MiB   {told}")
    print(f"{'at most':<11} {MOST_SECONDS:6.1f} s {'':>15} {MOST_MIB:6.0f} MiB   {counts}")
    print(f"the dry run reports {'the same' if same else 'SOMETHING ELSE'}")
    print(f"the second run changed {', '.join(changed) or 'no row'} of {sum(count for count, _ in after.values()):,}")
    print(agree)
    within = first.seconds < MOST_SECONDS and first.mib < MOST_MIB
    return 0 if within and same and not changed and not second.count("new") else 1


if __name__ == "__main__":
    sys.exit(main())
