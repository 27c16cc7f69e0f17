"""Which processes have gone silent, by this one's own looks: no clock is compared with another machine's.

A beat is news when it differs from the last one seen. Silence counts only while somebody looks, so that neither a clock
that jumps nor a database that was away, nor a stop of the one that looks, makes the others seem gone.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

LOOKS_EVERY_SECONDS = 5.0
GONE_AFTER_SECONDS = 20.0
# However long ago the last look was: what was not looked at is no silence.
MOST_BETWEEN_LOOKS = LOOKS_EVERY_SECONDS + 1.0


class Watch:
    """What one process knows of the others. `clock` is in seconds, and may stand still or jump ahead."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looked: float | None = None
        self._seen: dict[str, tuple[datetime | None, float]] = {}

    def silent(self, beats: Mapping[str, datetime | None]) -> list[str]:
        """Look once at everyone's last beat, None where there is none; returns who has been silent for GONE_AFTER_SECONDS."""
        now = self._clock()
        passed = 0.0 if self._looked is None else min(now - self._looked, MOST_BETWEEN_LOOKS)
        self._looked = now
        self._seen = {name: (beat, self._silence(name, beat, passed)) for name, beat in beats.items()}
        return [name for name, (_, seconds) in self._seen.items() if seconds >= GONE_AFTER_SECONDS]

    def seconds_of(self, name: str) -> float:
        """How long one has been silent, as far as this one knows."""
        return self._seen[name][1] if name in self._seen else 0.0

    def forget(self, names: Iterable[str]) -> None:
        """Begin anew with these, should they come back."""
        for name in names:
            self._seen.pop(name, None)

    def _silence(self, name: str, beat: datetime | None, passed: float) -> float:
        if name not in self._seen:
            return 0.0
        last, seconds = self._seen[name]
        return seconds + passed if beat == last else 0.0
