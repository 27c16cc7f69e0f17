"""What a worker sends home: endings and text, over the channel layer, in a thread with a loop of its own.

Whatever has come together meanwhile travels in one message. One that cannot be sent is dropped: the seat's row says it all.
"""

import asyncio
import json
import logging
import threading
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from channels import DEFAULT_CHANNEL_LAYER
from channels.exceptions import ChannelFull
from channels.layers import channel_layers
from redis import RedisError

from gateway.workers.celery.listener import USE
from gateway.workers.celery.sealed import seal

logger = logging.getLogger(__name__)

TRIES_AGAIN_AFTER = (0.2, 1.0)
# Seconds for which text waits for more of it: a reader does not see the difference, and Redis does.
TOGETHER_SECONDS = 0.03
# Characters in one message, from which on the next begins.
LARGEST = 1_000_000
_Item = tuple[str, Mapping[str, Any]]


class Carrier:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._items: list[_Item] = []
        self._lock = threading.Lock()
        self._due: float | None = None
        self._layer = channel_layers.make_backend(DEFAULT_CHANNEL_LAYER)
        self._sending = asyncio.Lock()
        threading.Thread(target=self._loop.run_forever, name="seats-carrier", daemon=True).start()

    def tell(self, home: str, item: Mapping[str, Any], *, at_once: bool) -> None:
        """Send an item, after everything that was told before it."""
        wait = 0.0 if at_once else TOGETHER_SECONDS
        with self._lock:
            self._items.append((home, item))
            if self._due is not None and self._due <= wait:
                return
            self._due = wait
        asyncio.run_coroutine_threadsafe(self._send(wait), self._loop)

    def finish(self, seconds: float) -> None:
        """Wait for what is still to be sent, no longer than that."""
        sent: Future[None] = asyncio.run_coroutine_threadsafe(self._send(0.0), self._loop)
        try:
            sent.result(seconds)
        except TimeoutError:
            logger.warning("The channel layer does not answer; the last answers are read from their rows")

    async def _send(self, wait: float) -> None:
        if wait:
            await asyncio.sleep(wait)
        async with self._sending:
            with self._lock:
                items, self._items, self._due = self._items, [], None
            homes = defaultdict[str, list[Mapping[str, Any]]](list)
            for home, item in items:
                homes[home].append(item)
            for home, told in homes.items():
                for content in _together(told):
                    await self._sent(home, content)

    async def _sent(self, home: str, content: str) -> None:
        message = {"type": "seats.news", "sealed": seal(content.encode(), USE)}
        for wait in (*TRIES_AGAIN_AFTER, None):
            try:
                await self._layer.send(home, message)
            except (ChannelFull, RedisError, OSError) as error:
                if wait is None:
                    logger.warning("An answer could not be sent home (%s); it is in its row", type(error).__name__)
                    return
                await asyncio.sleep(wait)
            else:
                return


def _together(items: list[Mapping[str, Any]]) -> list[str]:
    """The items as JSON lists, none much larger than LARGEST unless one item is."""
    lists: list[list[str]] = [[]]
    size = 0
    for written in (json.dumps(item, separators=(",", ":")) for item in items):
        if lists[-1] and size + len(written) > LARGEST:
            lists.append([])
            size = 0
        lists[-1].append(written)
        size += len(written)
    return [f"[{','.join(written)}]" for written in lists]
