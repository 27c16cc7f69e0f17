"""The turnstile: no seat's call goes out before its limits have room for it, and none waits longer than is worth it.

Waits in the seat's own thread, holding neither a connection nor the ledger; counts nothing itself.
"""

import time
from collections.abc import Callable

from collections_app.services.quotas import Claim, Refused, Reservation, reserve
from gateway.upstream.contract import UpstreamError

# Seconds that a seat waits for its turn; a panel's other seats take as long to answer.
LONGEST_WAIT = 20.0
Reserve = Callable[[], Reservation | Refused]


class Turnstile:
    """`run` runs a reservation where the database may be touched, and waits for it."""

    def __init__(self, run: Callable[[Reserve], Reservation | Refused]) -> None:
        self._run = run

    def reserve(self, claim: Claim) -> Reservation | None:
        """Count a call as gone out; None when nothing limits it. Raises UpstreamError: what is in its way, until when."""
        if not claim.quotas:
            return None
        gives_up = time.monotonic() + LONGEST_WAIT
        while True:
            answer = self._run(lambda: reserve(claim))
            if isinstance(answer, Reservation):
                return answer
            wait = None if answer.until is None else (answer.until - answer.at).total_seconds()
            if wait is None or wait > gives_up - time.monotonic():
                raise UpstreamError(_told(answer), kind="rate_limited", retry_after=wait)
            time.sleep(wait)


def _told(refused: Refused) -> str:
    until = f" until {refused.until:%Y-%m-%d %H:%M:%S} UTC" if refused.until else ""
    return f"not asked: {refused.why}{until}"
