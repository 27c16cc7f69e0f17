"""Callers that ask through nginx until they are told to stop, and keep what they were given: ids, answers, whole replies.

A caller with an idempotency key sends the same again when it is cut off, refused for now or left waiting, as SDKs do; one
without goes on to another question.
"""

import asyncio
import itertools
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from benchmarks.faults.kinds import KINDS, Kind
from benchmarks.faults.roster import END, FIVE, MERGER

# Seconds: what one with a key waits before it tries again, and how long it goes on trying; and what one without waits.
TRY_SECONDS, TRIES_FOR, PATIENCE = 12.0, 90.0, 75.0
AGAIN_AFTER = 0.5
IDS = re.compile(r"p\d{8}-\d{6}-[0-9a-f]{4}(?:\.(?:member\d|explorer\d|merger))?")


@dataclass(slots=True)
class Told:
    """One question and what its caller was given, in all its tries. `began` and `ended` are by time.monotonic."""

    mark: str
    kind: Kind
    began: float
    ended: float | None = None
    ids: set[str] = field(default_factory=set)
    # Models whose answer came to its last word; and seats as the last whole reply has them, by call.
    given: set[str] = field(default_factory=set)
    seats: dict[str, dict[str, Any]] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)
    tries: int = 0

    @property
    def is_full(self) -> bool:
        """Whether a whole reply came, with every seat's answer in it."""
        return "200" in self.replies and self.given | self.answered >= set(FIVE)

    @property
    def answered(self) -> set[str]:
        """Models that a whole reply says have answered."""
        return {seat["alias"] for seat in self.seats.values() if seat["status"] == "ok"}

    @property
    def is_told(self) -> bool:
        """Whether there is nothing to try again for."""
        # Of a panel that nobody answered the refusal is its reply, which another try gets again.
        return bool(self.seats) or (bool(self.replies) and self.replies[-1][:1] in "24")


class Load:
    def __init__(self, url: str, tag: str, callers: int = len(KINDS)) -> None:
        self._url = url
        self._tag = tag
        self._numbers = itertools.count(1)
        self._stopping = False
        self._callers = callers
        self.told: list[Told] = []

    @property
    def asking(self) -> bool:
        """Whether any caller is still waiting."""
        return any(not task.done() for task in self._tasks)

    def begin(self) -> None:
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        kinds = itertools.islice(itertools.cycle(KINDS), self._callers)
        self._tasks = [asyncio.ensure_future(self._ask_on(kind)) for kind in kinds]

    async def finish(self) -> None:
        """Ask nothing more, and wait until everybody has been told."""
        self._stopping = True
        await asyncio.gather(*self._tasks)
        await self._session.close()

    async def full_since(self, moment: float, seconds: float, count: int = 1) -> float | None:
        """Wait for so many full panels that were asked since then; returns when the last of them ended, after `moment`."""
        gives_up = time.monotonic() + seconds
        while time.monotonic() < gives_up:
            ended = sorted(told.ended for told in self.told if told.ended and told.began >= moment and told.is_full)
            if len(ended) >= count:
                return ended[count - 1] - moment
            await asyncio.sleep(0.1)
        return None

    async def _ask_on(self, kind: Kind) -> None:
        while not self._stopping:
            told = Told(f"q-{self._tag}-{next(self._numbers)}", kind, time.monotonic())
            self.told.append(told)
            await self._until_told(told)
            told.ended = time.monotonic()

    async def _until_told(self, told: Told) -> None:
        gives_up = time.monotonic() + TRIES_FOR
        while True:
            told.tries += 1
            await self._try(told)
            if told.is_told:
                return
            await asyncio.sleep(AGAIN_AFTER)
            if not told.kind.keyed or time.monotonic() > gives_up:
                return

    async def _try(self, told: Told) -> None:
        headers = {"Idempotency-Key": told.mark, "X-Stainless-Retry-Count": str(told.tries - 1)} if told.kind.keyed else {}
        payload = told.kind.payload(f"What do you think of {told.mark}?")
        waits = aiohttp.ClientTimeout(total=TRY_SECONDS if told.kind.keyed else PATIENCE)
        came = bytearray()
        try:
            async with self._session.post(self._url + told.kind.path, json=payload, headers=headers, timeout=waits) as reply:
                async for piece in reply.content.iter_any():
                    came += piece
            told.replies.append(str(reply.status))
            told.seats = {seat["call"]: seat for seat in _seats_in(came.decode(errors="replace"))}
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            told.replies.append(type(error).__name__)
        text = came.decode(errors="replace")
        told.ids |= set(IDS.findall(text))
        # What a merger writes goes to its caller as it comes, before there is a row of it.
        partly = {MERGER} if told.replies[-1] != "200" else set()
        told.given |= {model for model, mark in END.findall(text) if mark == told.mark} - partly


def _seats_in(text: str) -> list[dict[str, Any]]:
    """The seats of the `bench` object of a reply, wherever its format has it; none where it has none."""
    for line in reversed(text.splitlines()):
        if '"bench"' in line:
            for bench in _benches(json.loads(line.removeprefix("data: "))):
                return list(bench.get("seats", ()))
    return []


def _benches(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("bench"), dict):
            yield value["bench"]
        for inner in value.values():
            yield from _benches(inner)
