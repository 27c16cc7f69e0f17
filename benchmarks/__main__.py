"""`python -m benchmarks`: start everything, measure the product, the bare fan-out and a peer in turn, print the table.

Needs no network and no configuration; everything runs on this machine and ends with the run.
"""

import argparse
import asyncio
import contextlib
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.driver import callers, load
from benchmarks.peers.litellm_proxy import LiteLLM
from benchmarks.processes import Server, StartError
from benchmarks.report import missed, report
from benchmarks.results import Results, Summary, machine, read_summary
from benchmarks.scenarios import SCENARIOS, Plan, Scenario, body
from benchmarks.server import Product

FULL = Plan(rounds=3, single_panels=50, load_seconds=3.0, stream_panels=40)
QUICK = Plan(rounds=1, single_panels=25, load_seconds=1.5, stream_panels=10, stream_waves=3)
QUICK_SCENARIOS = ("latency", "load32", "stream", "stream20", "burst")
OPEN_FILES = 8192
PROFILE_SECONDS = 30


def main() -> int:
    args = arguments()
    allow_open_files()
    # As Ctrl-C does: the servers are stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *signalled: sys.exit(143))
    try:
        with tempfile.TemporaryDirectory(prefix="benchsite-bench-", ignore_cleanup_errors=True) as folder:
            return profile(args, Path(folder)) if args.profile else measure(args, Path(folder))
    except StartError as error:
        sys.exit(str(error))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="one short round, under 40 seconds: for a look, not for a comparison"
    )
    parser.add_argument("--only", type=scenario_names, metavar="NAME,...", help=f"of {', '.join(SCENARIOS)}")
    parser.add_argument("--rounds", type=int, help="instead of 3 (1 with --quick)")
    parser.add_argument("--chunks", type=int, default=8, help="events in which the upstream streams an answer (default 8)")
    parser.add_argument("--no-peers", action="store_true", help="leave out those that are installed, as --quick does")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every figure of every round here")
    parser.add_argument("--against", type=earlier_run, metavar="FILE", help="an earlier --json, shown beside this run")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="measure nothing; write where the CPU time of load8 goes")
    return parser.parse_args()


def earlier_run(path: str) -> dict[str, Summary]:
    try:
        return read_summary(Path(path))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{path} holds no earlier run: {error!r}") from error


def scenario_names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - SCENARIOS.keys():
        raise argparse.ArgumentTypeError(f"no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    return names


def measure(args: argparse.Namespace, folder: Path) -> int:
    """Run the scenarios and print the report. 1 when a target is missed, or when a panel failed: such figures say nothing."""
    plan, peers = QUICK if args.quick else FULL, LiteLLM.is_installed() and not (args.no_peers or args.quick)
    results = Results({**machine(), "rounds": args.rounds or plan.rounds, "chunks": args.chunks, "peers": peers})
    chosen = [SCENARIOS[name] for name in args.only or (QUICK_SCENARIOS if args.quick else SCENARIOS)]
    with upstream(folder, args.chunks) as mock:
        product = Product(folder, mock.url)
        product.prepare()
        for seat_workers in dict.fromkeys(scenario.seat_workers for scenario in chosen):
            group = [scenario for scenario in chosen if scenario.seat_workers == seat_workers]
            with contextlib.ExitStack() as servers:
                floor = servers.enter_context(fan_out(folder, mock))
                served = servers.enter_context(product.serving(seat_workers=seat_workers))
                asked_of_peers = peers and any(scenario.peers for scenario in group)
                beside = [servers.enter_context(LiteLLM(folder, mock.url))] if asked_of_peers else []
                asyncio.run(in_turn(group, (served, floor, *beside), plan, results))
    print(report(results, before=args.against))
    if args.json:
        results.write(args.json)
    return 1 if results.errors() or missed(results) else 0


async def in_turn(scenarios: Sequence[Scenario], servers: Sequence[Server], plan: Plan, results: Results) -> None:
    """Every scenario on every server, one after the other in each round, so that both see the same machine."""
    for scenario in scenarios:
        for number in range(1, 1 + (scenario.rounds or results.machine["rounds"])):
            for server in servers if scenario.peers else servers[:2]:
                print(f"{scenario.name}: {scenario.about}, round {number}, {server.name} ...", file=sys.stderr)
                results.add(scenario.name, server.name, await scenario.measure(server, plan))


def profile(args: argparse.Namespace, folder: Path) -> int:
    if sys.version_info >= (3, 12):
        sys.exit("--profile needs Python 3.11: from 3.12 on cProfile follows one thread only.")
    args.profile.parent.mkdir(parents=True, exist_ok=True)
    args.profile.unlink(missing_ok=True)
    with upstream(folder, args.chunks) as mock:
        product = Product(folder, mock.url)
        product.prepare()
        with product.serving(profile=args.profile.resolve()) as served:
            panels = asyncio.run(profiled_load(served))
            os.kill(served.pid, signal.SIGUSR2)
            wait_for(args.profile, served)
    print(f"{panels} panels by 8 callers; where their CPU time went: {args.profile}\n")
    print(args.profile.read_text().partition("\nFunctions by their own time")[0])
    return 0


async def profiled_load(served: Server) -> int:
    async with callers() as session:
        await load(session, served.url, body("bench/five"), concurrency=8, panels=32, seconds=20)
        os.kill(served.pid, signal.SIGUSR1)
        seen = await load(session, served.url, body("bench/five"), concurrency=8, panels=400, seconds=15)
    return len(seen.panels)


def wait_for(file: Path, writer: Server) -> None:
    deadline = time.monotonic() + PROFILE_SECONDS
    while not file.exists():
        if time.monotonic() > deadline:
            raise StartError(f"The profiled server wrote no {file} within {PROFILE_SECONDS} seconds:\n{writer.tail()}")
        time.sleep(0.1)


@contextlib.contextmanager
def upstream(folder: Path, chunks: int) -> Iterator[Server]:
    command = ["-m", "benchmarks.mock_upstream", "--port", "{port}", "--chunks", str(chunks)]
    with Server("mock upstream", command, log=folder / "upstream.log", env=os.environ) as server:
        yield server


@contextlib.contextmanager
def fan_out(folder: Path, mock: Server) -> Iterator[Server]:
    command = ["-m", "benchmarks.floor", "--port", "{port}", "--upstream", mock.url]
    with Server("floor", command, log=folder / "floor.log", env=os.environ) as server:
        yield server


def allow_open_files() -> None:
    """1,000 seats at once are 1,000 connections of the server and 200 of its callers; children inherit the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


if __name__ == "__main__":
    sys.exit(main())
