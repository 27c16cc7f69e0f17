"""Run it: `python -m benchmarks.faults [--only NAME,…] [--json FILE]`. Needs redis-server, postgresql, nginx and a C compiler.

Breaks a bench of several processes in one way after the other while callers ask it, and proves each time that nothing was
lost, doubled or left running. Prints a table; exit 1 when anything in it is wrong. About ten minutes.
"""

import argparse
import asyncio
import json
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.faults import breaking, clients
from benchmarks.faults.benches import Alone, FaultyCluster, RecordingUpstream, small_disk
from benchmarks.faults.load import Load
from benchmarks.faults.proofs import Evidence, logged_calls
from benchmarks.faults.scene import Fault, Scene, played
from benchmarks.faults.table import Row, printed, row_of
from benchmarks.processes import StartError

OPEN_FILES = 16_384
POSTGRES_DISK, ALONE_DISK = 400, 12

FAULTS = (
    Fault(name="web-kill", says="kill -9 of a web process", do=breaking.killed("web1")),
    Fault(name="worker-kill", says="kill -9 of a worker", do=breaking.killed("worker1"), may_lose=True),
    Fault(name="redis-kill", says="kill -9 of Redis", do=breaking.killed("redis")),
    Fault(name="postgres-kill", says="kill -9 of PostgreSQL", do=breaking.killed("postgres")),
    Fault(name="web-stop", says="SIGSTOP of a web process for 28 s", do=breaking.stopped("web2")),
    Fault(name="worker-stop", says="SIGSTOP of a worker for 28 s", do=breaking.stopped("worker2"), may_lose=True),
    Fault(name="redis-stop", says="SIGSTOP of Redis for 28 s", do=breaking.stopped("redis")),
    Fault(name="postgres-stop", says="SIGSTOP of PostgreSQL for 28 s", do=breaking.stopped("postgres")),
    Fault(name="restart", says="SIGTERM of every web process, worker and beat", do=breaking.all_stopped),
    Fault(name="crash", says="kill -9 of everything", do=breaking.all_killed, may_lose=True),
    Fault(name="postgres-full", says="no room for PostgreSQL", do=breaking.full_disk),
    Fault(name="clock", says="an hour on and back, for a web process and a worker", do=breaking.clocks_jump),
    Fault(name="silence", says="a provider that accepts and never answers", do=breaking.silent_upstream),
    Fault(name="slow-readers", says="40 streams of 3 MB, hardly read", do=clients.slow_readers, harmless=True, memory=450),
    Fault(name="10-gb", says="bodies of 10 GB", do=clients.endless_bodies, harmless=True),
    Fault(name="drip", says="1,000 connections whose headers drip", do=clients.dripping_headers, harmless=True),
    Fault(name="idle", says="5,000 idle streams", do=clients.idle_streams, harmless=True, memory=400),
    Fault(name="alone-kill", says="kill -9 of a single `serve`", do=breaking.killed("serve"), may_lose=True, alone=True),
    Fault(name="alone-restart", says="SIGTERM to a single `serve`", do=breaking.all_stopped, alone=True),
    Fault(name="alone-full", says="`serve` on SQLite without room", do=breaking.full_disk, alone=True),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    names = ", ".join(fault.name for fault in FAULTS)
    parser.add_argument("--only", type=_named, default=FAULTS, metavar="NAME,…", help=f"of {names}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was found")
    parser.add_argument("--folder", type=Path, help="where logs are kept (default: a folder that goes at the end)")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < OPEN_FILES else OPEN_FILES, hard))
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            rows = _rows(options.only, options.folder or Path(name))
    except StartError as error:
        sys.exit(str(error))
    print(printed(rows))
    if options.json:
        options.json.write_text(json.dumps([row.as_dict() for row in rows], indent=1))
    return 0 if all(row.is_green for row in rows) else 1


def _named(text: str) -> tuple[Fault, ...]:
    known = {fault.name: fault for fault in FAULTS}
    unknown = [name for name in text.split(",") if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"no fault is called {' or '.join(unknown)}")
    return tuple(known[name] for name in text.split(","))


def _rows(faults: Sequence[Fault], folder: Path) -> list[Row]:
    folder.mkdir(parents=True, exist_ok=True)
    # PostgreSQL's files are in it, which another user reads.
    folder.chmod(0o755)
    rows: list[Row] = []
    with RecordingUpstream(folder) as upstream:
        for alone in (False, True):
            chosen = [fault for fault in faults if fault.alone is alone]
            if chosen:
                with _bench(folder, upstream, alone=alone) as bench:
                    rows += [_row(fault, bench, upstream) for fault in chosen]
    return rows


@contextmanager
def _bench(folder: Path, upstream: RecordingUpstream, *, alone: bool) -> Iterator[FaultyCluster | Alone]:
    with ExitStack() as stack:
        data = folder / ("alone" if alone else "postgres")
        stack.enter_context(small_disk(data, ALONE_DISK if alone else POSTGRES_DISK))
        if alone:
            yield stack.enter_context(Alone(data, folder / "serve.log", upstream.url))
        else:
            cluster = folder / "cluster"
            cluster.mkdir(exist_ok=True)
            yield stack.enter_context(FaultyCluster(cluster, upstream.url, data))


def _row(fault: Fault, bench: FaultyCluster | Alone, upstream: RecordingUpstream) -> Row:
    print(f"{fault.name}: {fault.says} …", file=sys.stderr, flush=True)
    tag = fault.name.replace("-", "")
    scene = Scene(tag=tag, bench=bench, upstream=upstream, load=Load(bench.url, tag))
    watch = asyncio.run(played(scene, fault))
    evidence = Evidence(scene.load.told, logged_calls(bench, tag), upstream.events(tag))
    row = row_of(fault, scene, watch, evidence)
    print(f"  {'green' if row.is_green else 'RED'}: {row.cells}", file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
