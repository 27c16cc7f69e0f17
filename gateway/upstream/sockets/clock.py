"""One call's time: how long it may still wait, and what it was waiting for when that ran out.

Every read and write of the call's socket asks for `left`, so that a limit also holds against an upstream that sends
something all the time. Comments and keep-alives are not tokens.
"""

import math
from time import monotonic

# An upstream that has said how its answer ends gets this long for its last words (usage, [DONE], the end of the body).
LAST_WORDS_SECONDS = 5.0
# And this long after its last word for the end of the body, without which the connection cannot be used again.
DRAIN_SECONDS = 0.1


class Clock:
    """The limits of one call in seconds, from when it was made. Used by the one thread that makes the call."""

    def __init__(self, *, connect: float, first_token: float, total: float) -> None:
        self.connect_limit = min(connect, total)
        self._token_limit = first_token
        self._total_limit = total
        self._started = monotonic()
        self._ends = self._started + total
        self._token_due = math.inf
        self._sent_at = math.inf
        self.reused = True
        self.heard = False
        self.broke_off = False
        self.first_token_seconds: float | None = None

    def left(self) -> float:
        """Seconds until the next limit. Raises TimeoutError when one has run out."""
        left = min(self._ends, self._token_due) - monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def sent(self) -> None:
        """The request has gone: the first token is awaited from now on."""
        self._sent_at = monotonic()
        self._token_due = self._sent_at + self._token_limit

    def token(self) -> None:
        """Some of the answer came."""
        now = monotonic()
        self._token_due = now + self._token_limit
        if self.first_token_seconds is None:
            self.first_token_seconds = now - self._started

    def last_words(self) -> None:
        """The answer is whole."""
        self._token_limit = min(self._token_limit, LAST_WORDS_SECONDS)
        self._token_due = monotonic() + self._token_limit

    def drain(self) -> None:
        """Nothing more is awaited but the end of the body."""
        self._token_due = monotonic() + DRAIN_SECONDS

    @property
    def never_left(self) -> bool:
        """Whether the request broke off on a kept connection before all of it was sent, and nothing of an answer came."""
        return self.reused and self.broke_off and not self.heard

    def why(self) -> str:
        """Which limit ran out, in words."""
        if monotonic() >= self._ends:
            return f"no whole answer within {self._total_limit:g} s"
        if self._sent_at == math.inf:
            return f"no connection within {self.connect_limit:g} s"
        if self.first_token_seconds is None:
            return f"no first token within {self._token_limit:g} s"
        return f"no further token for {self._token_limit:g} s"
