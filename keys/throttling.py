"""How often a key may ask: its requests a minute, over a window that moves with the clock.

Counts in Redis for every process where REDIS_URL names one, else in this process. Waits for nobody but Redis, so it
belongs in a thread that may wait.
"""

import logging
import math
import time
from functools import cache
from threading import Lock

from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter

from keys.errors import TooManyRequests
from keys.services import Caller

logger = logging.getLogger(__name__)

# Redis answers in under a millisecond, or something is wrong with it.
REDIS_SECONDS = 1.0
# How long this process counts alone when Redis does not answer, before it tries again.
ALONE_SECONDS = 5.0
# How long what was written to see whether it can be is kept.
KEPT_SECONDS = 60
# What the library calls it when nothing came back; whatever else it says, Redis said first.
_SILENT = ("ConnectionError", "TimeoutError")


class Rates:
    """The counters. With Redis away every process counts for itself: limits hold, if loosely, and nobody else is refused."""

    def __init__(self, redis_url: str) -> None:
        self._own = MovingWindowRateLimiter(MemoryStorage())
        self._shared = _shared(redis_url) if redis_url else None
        self._alone_until = 0.0
        # The library's memory counts under a lock that its own clean-up may replace.
        self._lock = Lock()

    def take(self, key_id: int, rpm: int) -> int:
        """Count one request; returns 0, or, uncounted, the seconds until there is room for one."""
        if self._shared and time.monotonic() >= self._alone_until:
            try:
                return _take(self._shared, key_id, rpm)
            except StorageError as error:
                self._alone_until = time.monotonic() + ALONE_SECONDS
                # The class alone: a message could hold the URL, and with it a password.
                logger.warning("Redis does not count (%s): this process counts alone", type(error.__cause__).__name__)
        with self._lock:
            return _take(self._own, key_id, rpm)


def count_request(caller: Caller) -> None:
    """Count one request of a caller. Raises TooManyRequests, uncounted, when its minute is full."""
    if caller.rpm is None or caller.key_id is None:
        return
    if wait := rates(settings.REDIS_URL).take(caller.key_id, caller.rpm):
        raise TooManyRequests(caller.name, caller.rpm, wait)


def why_not_counting(redis_url: str) -> str:
    """What is wrong with Redis, in words without its URL; empty where it takes what it is told, in a second or so.

    One that is full, or a replica, answers and takes nothing.
    """
    try:
        _shared_storage(redis_url).incr("looked-at", KEPT_SECONDS)
    except StorageError as error:
        name = type(error.__cause__).__name__
        return "does not answer" if name in _SILENT else f"takes nothing ({name})"
    return ""


def rates(redis_url: str) -> Rates:
    """The process's counters."""
    # Not the cache alone: threads that come at once would each make and count with their own.
    with _making:
        return _made(redis_url)


_making = Lock()


@cache
def _made(redis_url: str) -> Rates:
    return Rates(redis_url)


def _shared(url: str) -> MovingWindowRateLimiter:
    return MovingWindowRateLimiter(_shared_storage(url))


@cache
def _shared_storage(url: str) -> RedisStorage:
    return RedisStorage(
        url,
        wrap_exceptions=True,
        key_prefix="bench-rates",
        socket_timeout=REDIS_SECONDS,
        socket_connect_timeout=REDIS_SECONDS,
    )


def _take(limiter: MovingWindowRateLimiter, key_id: int, rpm: int) -> int:
    rate = RateLimitItemPerMinute(rpm)
    if limiter.hit(rate, str(key_id)):
        return 0
    window = limiter.get_window_stats(rate, str(key_id))
    # Room may have come in between; then there is nothing in the window to wait for.
    return max(1, math.ceil(window.reset_time - time.time())) if window.remaining < 1 else 1
