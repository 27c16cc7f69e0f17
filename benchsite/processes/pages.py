"""The channel layer by which open pages hear of panels: this process's at once, and the others' through Redis.

Nobody who tells or listens ever waits for Redis, or fails without it: with Redis away, pages hear of what their own process
does. Carries panel ids alone, and keeps nothing: whoever missed one reads the call log.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

from channels.layers import InMemoryChannelLayer
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

CHANNEL = "bench-pages"
# What waits to be told to the others; beyond it is dropped.
MOST_WAITING = 1000
CONNECT_SECONDS = 2.0
# How long nothing is told to a Redis that did not take it, and until it is listened to again.
AWAY_SECONDS = 3.0
Deliver = Callable[[str, dict[str, Any]], Awaitable[None]]


class PagesLayer(InMemoryChannelLayer):
    """An in-memory layer whose groups reach over every process with the same `redis_url`."""

    def __init__(self, *, redis_url: str, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._redis_url = redis_url
        self._relays: WeakKeyDictionary[asyncio.AbstractEventLoop, _Relay] = WeakKeyDictionary()

    async def group_add(self, group: str, channel: str) -> None:
        await super().group_add(group, channel)  # type: ignore[no-untyped-call]
        self._relay().listen()

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await super().group_send(group, message)  # type: ignore[no-untyped-call]
        self._relay().tell(group, message)

    def _relay(self) -> "_Relay":
        loop = asyncio.get_running_loop()
        if loop not in self._relays:
            self._relays[loop] = _Relay(self._redis_url, super().group_send)
        return self._relays[loop]


class _Relay:
    """Between this process's groups and the others'. Belongs to one event loop."""

    def __init__(self, redis_url: str, deliver: Deliver) -> None:
        self._redis = Redis.from_url(
            redis_url,
            socket_connect_timeout=CONNECT_SECONDS,
            socket_timeout=CONNECT_SECONDS,
            health_check_interval=10,
            retry=Retry(NoBackoff(), 0),
        )
        # Redis numbers its databases, and its channels belong to none of them.
        number = self._redis.connection_pool.connection_kwargs.get("db", 0)
        self._channel = f"{CHANNEL}:{number}"
        self._deliver = deliver
        self._own = secrets.token_hex(8)
        self._waiting: asyncio.Queue[bytes] = asyncio.Queue(MOST_WAITING)
        self._telling: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._away = False

    def tell(self, group: str, message: dict[str, Any]) -> None:
        """Tell the other processes, soon."""
        if self._telling is None:
            self._telling = asyncio.ensure_future(self._tell_all())
        if not self._waiting.full():
            self._waiting.put_nowait(json.dumps([self._own, group, message]).encode())

    def listen(self) -> None:
        """Hear what the other processes tell, from now on."""
        if self._listening is None:
            self._listening = asyncio.ensure_future(self._listen_always())

    async def _tell_all(self) -> None:
        silent_until = 0.0
        while True:
            told = await self._waiting.get()
            if time.monotonic() < silent_until:
                continue
            try:
                await self._redis.publish(self._channel, told)
                self._is_there()
            except (RedisError, OSError) as error:
                silent_until = time.monotonic() + AWAY_SECONDS
                self._is_away(error)

    async def _listen_always(self) -> None:
        while True:
            try:
                await self._listen()
            except (RedisError, OSError) as error:
                self._is_away(error)
            await asyncio.sleep(AWAY_SECONDS)

    async def _listen(self) -> None:
        async with self._redis.pubsub() as subscription:
            await subscription.subscribe(self._channel)
            self._is_there()
            while True:
                heard = await subscription.get_message(ignore_subscribe_messages=True, timeout=CONNECT_SECONDS)
                if heard is not None:
                    await self._take(heard["data"])

    async def _take(self, told: bytes) -> None:
        by, group, message = json.loads(told)
        if by != self._own:
            await self._deliver(group, message)

    def _is_away(self, error: Exception) -> None:
        if not self._away:
            # The class alone: a message could hold the URL, and with it a password.
            logger.warning("Redis is away (%s): pages hear of this process's panels alone", type(error).__name__)
        self._away = True

    def _is_there(self) -> None:
        if self._away:
            logger.info("Redis is back: pages hear of every process's panels")
        self._away = False
