"""Panels asked of two benches in turn, and of one that forgets meanwhile."""

import asyncio
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.driver import Load, callers, load
from benchmarks.processes import Server
from benchmarks.roster import SLOWEST
from benchmarks.scenarios import body, percentile

COLLECTION = "bench/explore"
PANELS, CALLERS = 30, 4
WARM_UP_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Cost:
    """What one panel of a round took: seconds above the slowest seat's, and seconds of the server's processor."""

    added: float
    cpu: float


def in_turn(servers: Sequence[Server], rounds: int) -> list[list[Cost]]:
    """Ask each server in each round, the first of them another each time; a list of rounds for each server."""
    costs: list[list[Cost]] = [[] for _ in servers]
    for number in range(rounds + 1):
        order = range(len(servers)) if number % 2 else reversed(range(len(servers)))
        for place in order:
            cost = asyncio.run(_round(servers[place]))
            if number:
                costs[place].append(cost)
    return costs


async def _round(server: Server) -> Cost:
    before = server.cpu_seconds()
    seen = await _ask(server, PANELS)
    spent = server.cpu_seconds() - before
    added = median(panel.seconds for panel in seen.panels) - SLOWEST[COLLECTION]
    return Cost(added, spent / len(seen.panels))


async def _ask(server: Server, panels: int) -> Load:
    async with callers() as session:
        seen = await load(session, server.url, body(COLLECTION), concurrency=1, panels=panels, seconds=WARM_UP_SECONDS)
    if seen.errors:
        raise SystemExit(f"A panel failed: {seen.errors[0]}")
    return seen


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """What callers saw while something else went on: seconds that panels took above the slowest seat's, and errors."""

    seconds: float
    added: tuple[float, ...]
    errors: tuple[str, ...]

    def __str__(self) -> str:
        figures = ", ".join(f"p{share:g} {1000 * percentile(self.added, share / 100):.0f}" for share in (50, 95, 99, 100))
        return f"{len(self.added):,} panels in {self.seconds:.0f} s, added ms {figures}, {len(self.errors)} errors"


def asked_for(server: Server, seconds: float) -> Meanwhile:
    """A few callers for so many seconds."""
    return asyncio.run(_asked(server, lambda started: time.perf_counter() - started < seconds))


def asked_during(server: Server, process: subprocess.Popen[str]) -> Meanwhile:
    """A few callers until the process has ended."""
    return asyncio.run(_asked(server, lambda _: process.poll() is None))


async def _asked(server: Server, goes_on: Callable[[float], bool]) -> Meanwhile:
    started, panels = time.perf_counter(), []
    async with callers() as session:
        while goes_on(started):
            seen = await load(session, server.url, body(COLLECTION), concurrency=CALLERS, panels=4 * CALLERS, seconds=5)
            panels += seen.panels
    added = tuple(panel.seconds - SLOWEST[COLLECTION] for panel in panels if not panel.error)
    return Meanwhile(time.perf_counter() - started, added, tuple(panel.error for panel in panels if panel.error))
