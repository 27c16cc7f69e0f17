"""How often a login may be tried: a few times a minute from one address, and so many times from all together.

Counts in this process's memory: a restart forgets, and each process counts for itself.
"""

import math
import time
from functools import cache
from ipaddress import ip_address, ip_network
from threading import Lock

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

FROM_ONE = RateLimitItemPerMinute(5)
FROM_ALL = RateLimitItemPerMinute(100)
_ALL = "everybody"


class LoginTries:
    """The tries of the last minute. One is counted before it is judged, so that many at once get no more than few."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._lock = Lock()

    def take(self, address: str) -> int:
        """Count one try; returns 0, or, uncounted, the seconds until there is room for one.

        Only tries that their own address still has count among all: one caller cannot use up everybody's. This machine's
        own are not held to that number, so that its owner gets in while others guess.
        """
        network = network_of(address)
        with self._lock:
            if not self._limiter.test(FROM_ONE, network):
                return self._wait(FROM_ONE, network)
            if not network.startswith("loopback") and not self._limiter.hit(FROM_ALL, _ALL):
                return self._wait(FROM_ALL, _ALL)
            self._limiter.hit(FROM_ONE, network)
            return 0

    def forget(self, address: str) -> None:
        """Whoever got in starts anew."""
        with self._lock:
            self._limiter.clear(FROM_ONE, network_of(address))

    def _wait(self, rate: RateLimitItemPerMinute, who: str) -> int:
        return max(1, math.ceil(self._limiter.get_window_stats(rate, who).reset_time - time.time()))


@cache
def login_tries() -> LoginTries:
    """The process's own."""
    return LoginTries()


def network_of(address: str) -> str:
    """What one caller can have at will: its IPv4 address, the /64 of its IPv6 address, or all of this machine's."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.is_loopback:
        return "loopback"
    return str(parsed) if parsed.version == 4 else str(ip_network((parsed, 64), strict=False))
