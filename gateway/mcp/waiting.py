"""Waiting for a panel on an agent's behalf: what happens is told as progress, and the wait ends by a deadline.

The work runs in a task of its own, since a client that gives up cancels the waiting, and again at each of its next steps: the
work is then ended once, closes what it had open, and stops no panel.
"""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, Protocol

from gateway.client import Happening, Piece, Seated, SeatEnded
from gateway.mcp.showing import quoted

# Between signs of life: clients that wait on as long as something comes give up after a minute of nothing.
BEAT_SECONDS = 15.0
MOST_BEATS = 99


class Tell(Protocol):
    """Reports progress to the client, if it wants any: so much of so much, and what that means."""

    def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> Awaitable[None]: ...


class Watch:
    """One panel under way: hears of it from the work, and tells the client."""

    def __init__(self, tell: Tell, panel: str = "") -> None:
        self._tell = tell
        self._heard: asyncio.Queue[Happening | None] = asyncio.Queue()
        self._told = 0.0
        self._beats = 0
        self._seats: int | None = None
        self.panel = panel

    async def hear(self, what: Happening) -> None:
        if not isinstance(what, Piece):
            self._heard.put_nowait(what)

    async def until_ended(self, work: Coroutine[Any, Any, Any], seconds: float) -> bool:
        """Do the work, for `seconds` at the most once the panel has an id; whether it ended. Raises what the work raises."""
        doing = asyncio.ensure_future(work)
        doing.add_done_callback(self._ended)
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            while not (doing.done() and self._heard.empty()):
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0 and self.panel:
                    return False
                await self._tell_next(min(max(left, 0.0) or BEAT_SECONDS, BEAT_SECONDS))
            doing.result()
            return True
        finally:
            doing.cancel()

    def _ended(self, doing: "asyncio.Future[Any]") -> None:
        self._heard.put_nowait(None)
        if not doing.cancelled():
            # Read, so that a failure after the client has left is not taken for one that nobody looked at.
            doing.exception()

    async def _tell_next(self, seconds: float) -> None:
        try:
            what = await asyncio.wait_for(self._heard.get(), seconds)
        except TimeoutError:
            self._beats += 1
            # Progress has to grow, also where nothing has.
            return await self._say(int(self._told) + min(self._beats, MOST_BEATS) / 100, "still thinking")
        if isinstance(what, Seated):
            self.panel = what.panel
            await self._say(0, f"panel {what.panel} is thinking; get_panel(panel={quoted(what.panel)}) reads it, now or later")
        elif isinstance(what, SeatEnded):
            await self._seat_ended(what)

    async def _seat_ended(self, what: SeatEnded) -> None:
        self._seats = what.seats
        if what.seat is None:
            return
        self._beats = 0
        alias, status = what.seat["alias"], what.seat["status"]
        if what.seat["seat"] == "merger":
            self._seats = what.seats + 1
            return await self._say(what.seats + 1, f"{alias} has merged the answers: {status}")
        await self._say(what.ended, f"{what.ended} of {what.seats} seats: {alias} {status}")

    async def _say(self, progress: float, message: str) -> None:
        # A seat that ended twice over, by two connections, is no progress.
        if progress <= self._told and progress:
            return
        self._told = progress
        await self._tell(progress, self._seats, message)
