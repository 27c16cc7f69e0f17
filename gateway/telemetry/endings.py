"""An ending, counted and told: a seat's where it was asked, a panel's where it was followed.

Raises nothing: whoever waits for an answer must not lose it to a number.
"""

import logging
from collections.abc import Sequence

from opentelemetry.trace import Span

from gateway.telemetry.metrics import AskedPanel, EndedSeat, count_panel, count_seat, outcome_of
from gateway.telemetry.spans import Answered, AskedSeat, end_panel, seat_span

logger = logging.getLogger(__name__)


def seat_ended(job: AskedSeat, answer: Answered, began: float) -> None:
    """A seat that was asked at Unix time `began`."""
    try:
        count_seat(job.endpoint, answer)
        seat_span(job, answer, began)
    except Exception:
        # The boundary of what only looks on.
        logger.exception("Seat %s could not be counted", job.call)


def panel_ended(panel: AskedPanel, span: Span | None, calls: Sequence[EndedSeat] | None, seconds: float) -> None:
    """A panel with its calls, the merger's among them; None: the gateway could not follow it to its end."""
    try:
        outcome = "broken" if calls is None else outcome_of(calls, len(panel.skipped))
        count_panel(panel, outcome, seconds, calls or ())
        end_panel(span, outcome)
    except Exception:
        # As above.
        logger.exception("Panel %s could not be counted", panel.id)
