"""`python -m benchmarks.soak [--minutes 30] [--cluster]`: callers ask everything there is, at half of what the machine does.

Exits 1 when a process's memory grows by 1 MiB a minute or more after the warm-up, when any request is not answered as it
has to be, a log has an error, or a call is left unfinished.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.processes import Server, StartError
from benchmarks.server import plain_environment
from benchmarks.soak import report
from benchmarks.soak.load import Load
from benchmarks.soak.samples import Sampler
from benchmarks.soak.sites import FAILING, OneProcess, Several, Soaked

CALIBRATION_SECONDS = 15.0
ENDED_WITHIN_SECONDS = 60.0
UNFINISHED = "SELECT COUNT(*) FROM evidence_call WHERE status = 'running'"
FAILED = (
    "SELECT alias, error_kind, COUNT(*), MIN(error) FROM evidence_call "
    f"WHERE status = 'error' AND alias <> '{FAILING}' GROUP BY alias, error_kind"
)
WRITTEN = "SELECT (SELECT COUNT(*) FROM evidence_panel), (SELECT COUNT(*) FROM evidence_call)"


def main() -> int:
    args = arguments()
    # As Ctrl-C does: what was started is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with ExitStack() as stack:
        folder = args.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchsite-soak-")))
        folder.mkdir(parents=True, exist_ok=True)
        command = ["-m", "benchmarks.mock_upstream", "--port", "{port}"]
        env = plain_environment(os.environ)
        upstream = stack.enter_context(Server("upstream", command, log=folder / "upstream.log", env=env))
        site = stack.enter_context((Several if args.cluster else OneProcess)(folder, upstream.url))
        return asyncio.run(soaked(site, args))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--warm-up", type=float, default=5.0, metavar="MINUTES", help="at most a third of all (default 5)")
    parser.add_argument("--cluster", action="store_true", help="two web processes and two workers instead of one process")
    parser.add_argument("--rate", type=float, help="requests a second (default: half of what callers get who ask at once)")
    parser.add_argument("--folder", type=Path, help="where logs and data are kept (default: a folder that goes at the end)")
    return parser.parse_args()


async def soaked(site: Soaked, args: argparse.Namespace) -> int:
    warm_up = min(args.warm_up, args.minutes / 3)
    async with Load(site.url, site.page_url) as load:
        await load.settled()
        fastest = 0.0 if args.rate else await load.fastest(CALIBRATION_SECONDS)
        rate = args.rate or fastest / 2
        print(
            f"{rate:.0f} requests a second ({fastest:.0f} at most) for {args.minutes:g} minutes, load {os.getloadavg()[0]:.1f}"
        )
        sys.stdout.flush()
        with Sampler(site.processes) as sampler:
            await load.steady(rate, 60 * args.minutes)
        unfinished = await left_running(site)
    wrong = [f"{kind}: {text}" for kind, text in load.seen.faults]
    wrong += [f"a seat failed: {row}" for row in site.rows(FAILED)]
    wrong += [f"unfinished: {unfinished} calls"] * bool(unfinished)
    wrong += list(logged(site.folder))
    wrong += [f"memory of {part} grows" for part in report.too_steep(sampler.by_part, warm_up)]
    told = (report.requests(load.seen), report.processes(sampler.by_part, warm_up), report.chart(sampler.by_part, warm_up))
    print("\n\n".join("\n".join(lines) for lines in told))
    panels, calls = site.rows(WRITTEN)[0]
    print(f"\n{load.seen.asked:,} requests, {panels:,} panels, {calls:,} calls, {unfinished} unfinished, {len(wrong)} wrong")
    print("\n".join(f"  {line[:300]}" for line in wrong[:12]))
    return 1 if wrong else 0


async def left_running(site: Soaked) -> int:
    """Calls that have not ended, after the time that those have which are under way."""
    deadline = time.monotonic() + ENDED_WITHIN_SECONDS
    while (unfinished := int(site.rows(UNFINISHED)[0][0])) and time.monotonic() < deadline:
        await asyncio.sleep(1)
    return unfinished


def logged(folder: Path) -> Iterator[str]:
    """What processes say went wrong."""
    for log in sorted(folder.glob("*.log")):
        for line in log.read_text(errors="replace").splitlines():
            if "Traceback" in line or " ERROR " in line or "[error]" in line:
                yield f"{log.name}: {line}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except StartError as error:
        sys.exit(str(error))
