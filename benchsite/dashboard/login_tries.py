"""How often a login may be tried: a few times a minute from one address, and so many times from all together.

Counts in this process's memory: a restart forgets, and each process counts for itself.
"""

import math
import time
from functools import cache
from ipaddress import ip_network
from threading import Lock

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from benchsite.addresses import address_of

FROM_ONE = RateLimitItemPerMinute(5)
FROM_ALL = RateLimitItemPerMinute(100)
LOOPBACK = "loopback"
_ALL = "everybody"


class LoginTries:
    """The wrong tries of the last minute, and those being judged: many at once get no more than few."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._lock = Lock()
        self._being_judged: dict[str, int] = {}

    def take(self, address: str) -> int:
        """Begin one try; returns 0, and `judged` has to follow, or else the seconds until there is room for one.

        Only tries that their own address still has count among all: one caller cannot use up everybody's. This machine's
        own are not held to that number, so that its owner gets in while others guess.
        """
        network = network_of(address)
        with self._lock:
            judging = self._being_judged.get(network, 0)
            if not self._limiter.test(FROM_ONE, network, cost=judging + 1):
                return self._wait(FROM_ONE, network)
            if network != LOOPBACK and not self._limiter.hit(FROM_ALL, _ALL):
                return self._wait(FROM_ALL, _ALL)
            self._being_judged[network] = judging + 1
            return 0

    def judged(self, address: str, *, right: bool) -> None:
        """End one try. A right one is given back, and wipes out no wrong one: its caller may be guessing at another door."""
        network = network_of(address)
        with self._lock:
            if not right:
                self._limiter.hit(FROM_ONE, network)
            self._being_judged[network] -= 1
            if not self._being_judged[network]:
                del self._being_judged[network]

    def _wait(self, rate: RateLimitItemPerMinute, who: str) -> int:
        return max(1, math.ceil(self._limiter.get_window_stats(rate, who).reset_time - time.time()))


def login_tries() -> LoginTries:
    """The process's own."""
    # Not the cache alone: requests that come at once would each make and count with their own.
    with _making:
        return _made()


_making = Lock()


@cache
def _made() -> LoginTries:
    return LoginTries()


def network_of(address: str) -> str:
    """What one caller can have at will: its IPv4 address, the /64 of its IPv6 address, or all of this machine's."""
    parsed = address_of(address)
    if parsed is None:
        return "unknown"
    if parsed.is_loopback:
        return LOOPBACK
    return str(parsed) if parsed.version == 4 else str(ip_network((parsed, 64), strict=False))
