"""Waiting for panels that other processes run: one look at the call log for everybody here who waits.

However many read them, a process asks one query at a time; whoever waits reads a panel again only when it has changed.
"""

import asyncio
import logging
from collections import defaultdict
from contextlib import suppress
from functools import cache, partial

from django.db import DatabaseError

from evidence.live import changes
from evidence.selectors.progress import Progress, progress_of
from gateway.workers.ledger import ledger

logger = logging.getLogger(__name__)

# How often the log is looked at: where other processes can be heard of, that is sooner, and this is for what was not heard.
LOOK_SECONDS = 0.5
# Whoever is in no hurry reads a panel again after that, changed or not.
READ_AGAIN_SECONDS = 30.0


class PanelsElsewhere:
    """Who waits for which panel. Belongs to the event loop."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, dict[asyncio.Future[None], Progress]] = defaultdict(dict)
        self._looking: asyncio.Task[None] | None = None
        self._heard = asyncio.Event()

    async def changed(self, panel_id: str, seen: Progress, seconds: float = READ_AGAIN_SECONDS) -> bool:
        """Wait until a panel is not as it was seen; False when so many seconds pass before."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[panel_id][waiter] = seen
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(self._look_for_all())
        try:
            ended, _ = await asyncio.wait({waiter}, timeout=seconds)
            return bool(ended)
        finally:
            waiters = self._waiting[panel_id]
            waiters.pop(waiter)
            if not waiters:
                del self._waiting[panel_id]

    async def _look_for_all(self) -> None:
        listening = asyncio.ensure_future(self._listen())
        try:
            while self._waiting:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._heard.wait(), LOOK_SECONDS)
                self._heard.clear()
                await self._look()
        finally:
            listening.cancel()

    async def _look(self) -> None:
        read = partial(progress_of, list(self._waiting))
        try:
            found = await asyncio.wrap_future(ledger().run(read))
        except DatabaseError as error:
            # It is away, and is looked at again.
            logger.warning("Panels of other processes could not be looked at (%s)", type(error).__name__)
            return
        for panel_id, waiters in self._waiting.items():
            for waiter, seen in waiters.items():
                if found.get(panel_id) != seen and not waiter.done():
                    waiter.set_result(None)

    async def _listen(self) -> None:
        async for panel_id in changes():
            if panel_id in self._waiting:
                self._heard.set()


@cache
def panels_elsewhere() -> PanelsElsewhere:
    """The process's own."""
    return PanelsElsewhere()
