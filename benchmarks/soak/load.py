"""Callers at a steady rate, whatever the bench does with it; and what they saw.

A bench that does not keep up is not spared: what waits is asked beside the rest, up to a bound.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from benchmarks.soak.asking import PANELS, chat
from benchmarks.soak.caller import PATIENCE, Caller, WrongReplyError
from benchmarks.soak.reading import BESIDE, page, watched

KINDS: Mapping[str, tuple[float, Any]] = {**PANELS, **BESIDE}
OPEN_PAGES, PAGE_SECONDS = 4, 5.0
AT_ONCE = 32
MOST_WAITING = 400
SETTLED_WITHIN_SECONDS = 30.0


@dataclass(slots=True)
class Seen:
    """Seconds of each request that was answered as it had to be, and what was wrong with the others, by kind."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)

    @property
    def asked(self) -> int:
        return sum(map(len, self.seconds.values())) + len(self.faults)


class Load:
    """Callers of one bench, to be used in `async with`."""

    def __init__(self, url: str, page_url: str) -> None:
        self._url, self._page_url = url, page_url
        self._running: set[asyncio.Task[None]] = set()
        self.seen = Seen()

    async def __aenter__(self) -> "Load":
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=20)
        self._session = aiohttp.ClientSession(connector=connector, timeout=PATIENCE)
        self._caller = Caller(self._session, self._url, self._page_url)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def settled(self) -> None:
        """Wait until panels are answered, several in a row: of processes that have just started not all know of the others."""
        ends, answered = time.monotonic() + SETTLED_WITHIN_SECONDS, 0
        while answered < 4 and time.monotonic() < ends:
            answered = answered + 1 if await self._noted("first panels", chat) else 0
            await asyncio.sleep(0.5)
        if answered == 4:
            self.seen = Seen()

    async def fastest(self, seconds: float) -> float:
        """Requests a second of callers who ask again at once."""
        ends, done = time.monotonic() + seconds, 0

        async def asks() -> None:
            nonlocal done
            while time.monotonic() < ends:
                await self._one(*self._drawn())
                done += 1

        await asyncio.gather(*(asks() for _ in range(AT_ONCE)))
        return done / seconds

    async def steady(self, rate: float, seconds: float) -> None:
        """So many requests a second, for so long, and pages beside; returns when the last is answered."""
        over = asyncio.Event()
        beside = [asyncio.ensure_future(self._pages(over))]
        beside += [asyncio.ensure_future(self._noted("open page", lambda who: watched(who, over))) for _ in range(OPEN_PAGES)]
        started, number = time.monotonic(), 0
        while (now := time.monotonic() - started) < seconds:
            while number < now * rate:
                number += 1
                self._begin()
            await asyncio.sleep(0.005)
        over.set()
        await asyncio.gather(*self._running, *beside)

    def _begin(self) -> None:
        if len(self._running) >= MOST_WAITING:
            self.seen.faults.append(("waiting", f"{MOST_WAITING} requests are unanswered"))
            return
        task = asyncio.ensure_future(self._one(*self._drawn()))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _drawn(self) -> tuple[str, Any]:
        weights = [weight for weight, _ in KINDS.values()]
        name = self._caller.chance.choices(list(KINDS), weights)[0]
        return name, KINDS[name][1]

    async def _one(self, name: str, ask: Callable[[Caller], Any]) -> None:
        started = time.perf_counter()
        if await self._noted(name, ask):
            self.seen.seconds.setdefault(name, []).append(time.perf_counter() - started)

    async def _noted(self, name: str, ask: Callable[[Caller], Any]) -> bool:
        try:
            await ask(self._caller)
        except (WrongReplyError, aiohttp.ClientError, TimeoutError, ValueError, KeyError) as error:
            self.seen.faults.append((name, f"{type(error).__name__}: {error}"))
            return False
        return True

    async def _pages(self, over: asyncio.Event) -> None:
        while not over.is_set():
            await self._one("page", page)
            await asyncio.sleep(PAGE_SECONDS)
