"""Run it: `python -m benchmarks.streams`. Streams whose one seat thinks for 45 s, all on one process, and panels beside."""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.__main__ import allow_open_files, upstream
from benchmarks.driver import callers, load
from benchmarks.processes import Server, StartError
from benchmarks.roster import SLOWEST
from benchmarks.scenarios import body, percentile
from benchmarks.server import Product
from benchmarks.streams.idle import Stream, held

# What the streams may take: seconds between two signs of life, and MiB more than the same process held before.
LONGEST_GAP, MOST_MIB = 12.0, 300
# A seat of each stream's, and some for the panels beside them.
SPARE_WORKERS = 100
PANELS_BESIDE = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What came of it: the streams, the process's MiB before and with all of them, and seconds of panels asked meanwhile."""

    streams: list[Stream]
    idle_mib: float
    mib: float
    beside: list[float]
    cpu_share: float

    @property
    def errors(self) -> list[str]:
        return [stream.error for stream in self.streams if stream.error]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=2000)
    args = parser.parse_args()
    allow_open_files()
    try:
        with tempfile.TemporaryDirectory(prefix="benchsite-streams-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            with upstream(folder, 8) as mock:
                product = Product(folder, mock.url, explorers=0)
                product.prepare()
                with product.serving(seat_workers=args.streams + SPARE_WORKERS) as served:
                    found = asyncio.run(measured(served, args.streams))
    except StartError as error:
        sys.exit(str(error))
    print(f"{args.streams} streams on one process, load {os.getloadavg()[0]:.1f} after\n")
    rows = list(judged(found))
    for label, figure, target, met in rows:
        print(f"{label:52}{figure:>12}{target:>12}  {'' if met is None else 'ok' if met else 'MISSED'}".rstrip())
    for text in sorted(set(found.errors))[:3]:
        print(f"ERROR {found.errors.count(text)} x {text[:300]}")
    return 0 if all(met is not False for *_, met in rows) else 1


async def measured(served: Server, count: int) -> Held:
    """Warm the process up, open every stream, ask panels beside them, and wait until all have ended."""
    async with callers() as session:
        await load(session, served.url, body("bench/five"), concurrency=20, panels=100, seconds=30)
    before, opened = served.mib(), asyncio.Event()
    holding = asyncio.ensure_future(held(served.url, "bench/idle", count, opened))
    await opened.wait()
    spent = served.cpu_seconds()
    with_all = served.mib()
    await asyncio.sleep(10)
    share = (served.cpu_seconds() - spent) / 10
    async with callers() as session:
        beside = await load(session, served.url, body("bench/five"), concurrency=1, panels=PANELS_BESIDE, seconds=10)
    with_all = max(with_all, served.mib())
    streams = await holding
    if beside.errors:
        raise StartError(f"A panel beside the streams failed: {beside.errors[0]}")
    return Held(
        streams=streams,
        idle_mib=before,
        mib=with_all,
        beside=[panel.seconds - SLOWEST["bench/five"] for panel in beside.panels],
        cpu_share=share,
    )


def judged(found: Held) -> Iterator[tuple[str, str, str, bool | None]]:
    """Rows of the table: label, figure, target, and whether it is met."""
    gaps = [stream.longest_gap for stream in found.streams]
    first = [stream.first_byte - stream.opened for stream in found.streams if stream.first_byte]
    more, failed = found.mib - found.idle_mib, len(found.errors)
    opening = max(stream.opened for stream in found.streams) - min(stream.opened for stream in found.streams)
    yield "streams that did not end well", f"{failed}", "<= 0", failed == 0
    yield "longest silence of any, s", f"{max(gaps):.1f}", f"<= {LONGEST_GAP:g}", max(gaps) <= LONGEST_GAP
    yield "fewest keep-alives of any", f"{min(stream.keepalives for stream in found.streams)}", "", None
    yield "memory before, MiB", f"{found.idle_mib:.0f}", "", None
    yield "more with all of them, MiB", f"{more:.0f}", f"<= {MOST_MIB}", more <= MOST_MIB
    yield "all opened within, s", f"{opening:.1f}", "", None
    yield "first byte while 50 open at once, p50, ms", f"{1000 * percentile(first, 0.5):.0f}", "", None
    yield "a panel beside them, added p50, ms", f"{1000 * percentile(found.beside, 0.5):.1f}", "", None
    yield "processor share while they wait, %", f"{100 * found.cpu_share:.1f}", "", None


if __name__ == "__main__":
    sys.exit(main())
