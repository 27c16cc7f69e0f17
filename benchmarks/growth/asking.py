"""Panels asked of two benches in turn, and of one that forgets meanwhile."""

import asyncio
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import aiohttp

from benchmarks.driver import callers, load
from benchmarks.processes import Server
from benchmarks.roster import SLOWEST
from benchmarks.scenarios import body, percentile

COLLECTION = "bench/explore"
PANELS, CALLERS = 30, 4
MOST_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Cost:
    """What one panel of a round took: seconds above the slowest seat's, and seconds of the server's processor."""

    added: float
    cpu: float


def in_turn(servers: Sequence[Server], rounds: int) -> list[list[Cost]]:
    """Ask the servers in turn, panel by panel, the first of them another each time; a list of rounds for each server."""
    _, *costs = [asyncio.run(_round(servers)) for _ in range(rounds + 1)]
    return [list(of_one) for of_one in zip(*costs, strict=True)]


async def _round(servers: Sequence[Server]) -> list[Cost]:
    before = [server.cpu_seconds() for server in servers]
    seconds: list[list[float]] = [[] for _ in servers]
    places = list(range(len(servers)))
    async with callers() as session:
        for _ in range(PANELS):
            places.reverse()
            for place in places:
                seconds[place].append(await _one(session, servers[place]))
    spent = [server.cpu_seconds() - so_far for server, so_far in zip(servers, before, strict=True)]
    return [Cost(median(took) - SLOWEST[COLLECTION], cpu / PANELS) for took, cpu in zip(seconds, spent, strict=True)]


async def _one(session: aiohttp.ClientSession, server: Server) -> float:
    seen = await load(session, server.url, body(COLLECTION), concurrency=1, panels=1, seconds=MOST_SECONDS)
    if seen.errors:
        raise SystemExit(f"A panel failed: {seen.errors[0]}")
    return seen.panels[0].seconds


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
