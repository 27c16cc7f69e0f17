"""`python -m benchmarks.growth`: asking with a short log and with a long one, side by side; then a year of the long one is
forgotten while panels are asked, and the dashboard's pages are visited.

Exits 1 when the log is not looked through by its index, asking costs more than a tenth more, a caller is harmed, or a page
takes longer than it may.
"""

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.growth.asking import Cost, asked_during, asked_for, in_turn
from benchmarks.growth.sites import Site
from benchmarks.processes import Server, StartError
from gateway.tests.postgres_cluster import postgres_cluster

MOST = 1.10
KEPT_DAYS = 35


def main() -> int:
    args = arguments()
    # As Ctrl-C does: what was started is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchsite-growth-", dir=args.folder)))
        mock = stack.enter_context(upstream(folder))
        cluster = stack.enter_context(postgres_cluster(fsync="on", full_page_writes="on")) if args.postgres else None
        sites = []
        for name, calls in (("short", args.short), ("long", args.long)):
            url = cluster.made(name) if cluster else ""
            sites.append(Site(folder / name, mock.url, calls=calls, database_url=url))
            sites[-1].prepare()
        servers = [stack.enter_context(site.serving()) for site in sites]
        good = indexed(sites[1])
        good = grown(in_turn(servers, args.rounds)) and good
        good = forgotten(sites[1], servers[1]) and good if args.prune else good
    return 0 if good else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--postgres", action="store_true", help="in a PostgreSQL of its own instead of SQLite")
    parser.add_argument("--short", type=int, default=1_000, metavar="CALLS")
    parser.add_argument("--long", type=int, default=1_000_000, metavar="CALLS")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-prune", dest="prune", action="store_false", help="leave pages and forgetting out")
    parser.add_argument("--folder", type=Path, help="where there is room for three gigabytes; the system's own for such")
    return parser.parse_args()


def indexed(site: Site) -> bool:
    """Print how the long log is looked through for the stalest; whether by the index that is for that, and no other way."""
    plan = site.plan()
    print(plan)
    looks = [step for step in plan.splitlines() if "evidence_call" in step or "U0" in step]
    return bool(looks) and all("staleness" in step for step in looks)


def grown(costs: list[list[Cost]]) -> bool:
    """Print what a panel costs with either log; whether the long one's costs hardly more."""
    good = True
    for name, of in (("added ms", lambda cost: cost.added), ("cpu ms", lambda cost: cost.cpu)):
        short, long = ([1000 * of(cost) for cost in each] for each in costs)
        # Of the same moment, since machines drift.
        ratio = median(b / a for a, b in zip(short, long, strict=True))
        print(f"{name:<9} short {median(short):6.2f}   long {median(long):6.2f}   long to short {ratio:.3f} (at most {MOST})")
        good = good and ratio <= MOST
    return good


def forgotten(site: Site, server: Server) -> bool:
    """Have all but some days of the log forgotten while panels are asked; whether nobody was harmed."""
    pages = site.pages()
    before = asked_for(server, 15)
    print(f"before: {before}", flush=True)
    started = time.perf_counter()
    with site.pruning(KEPT_DAYS) as pruning:
        meanwhile = asked_during(server, pruning)
        told = pruning.communicate()[0].strip()
    print(f"meanwhile: {meanwhile}")
    print(f"{told} {time.perf_counter() - started:.0f} s")
    return not (pages or pruning.returncode or before.errors or meanwhile.errors)


@contextlib.contextmanager
def upstream(folder: Path) -> Iterator[Server]:
    command = ["-m", "benchmarks.mock_upstream", "--port", "{port}", "--chunks", "8"]
    with Server("mock upstream", command, log=folder / "upstream.log", env=os.environ) as server:
        yield server


if __name__ == "__main__":
    try:
        sys.exit(main())
    except StartError as error:
        sys.exit(str(error))
