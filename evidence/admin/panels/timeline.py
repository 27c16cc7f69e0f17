"""How long each seat of a panel took, on one axis: seconds since the panel was asked, and per cent of its width."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evidence.models import Call, Panel

# A seat that ended at once has a bar all the same.
THINNEST = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One seat: when it was asked, when its first token came, when it ended; None: it has not, or nobody measured it."""

    started: float
    first_token: float | None
    ended: float | None
    seconds: float
    # Per cent of the axis: where its bar begins, how long it waited, how long it wrote.
    left: float
    waited: float
    wrote: float

    @property
    def wrote_from(self) -> float:
        return self.left + self.waited


def timings(panel: Panel, calls: Sequence[Call], now: datetime) -> tuple[list[Timing], float]:
    """Return the timing of each call in their order, and the seconds that the axis is long."""
    spans = [_span(panel, call, now) for call in calls]
    axis = max((started + seconds for started, seconds in spans), default=0.0) or 1.0
    return [_timing(call, *span, axis) for call, span in zip(calls, spans, strict=True)], axis


def _span(panel: Panel, call: Call, now: datetime) -> tuple[float, float]:
    """When it started, and how long it has taken so far."""
    started = max(0.0, (call.asked_at - panel.asked_at).total_seconds())
    if call.seconds is not None:
        return started, max(0.0, call.seconds)
    running = call.status == Call.Status.RUNNING
    return started, max(0.0, (now - call.asked_at).total_seconds()) if running else 0.0


def _timing(call: Call, started: float, seconds: float, axis: float) -> Timing:
    first = call.first_token_seconds
    waiting = seconds if first is None else min(max(first, 0.0), seconds)
    return Timing(
        started=started,
        first_token=None if first is None else started + first,
        ended=None if call.seconds is None else started + call.seconds,
        seconds=seconds,
        left=100 * started / axis,
        waited=max(100 * waiting / axis, THINNEST),
        wrote=100 * (seconds - waiting) / axis,
    )
