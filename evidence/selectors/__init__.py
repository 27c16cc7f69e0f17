"""Reading the call log. Writes nothing and ranks nobody."""

from evidence.selectors.calls import (
    MOST_COUNTED,
    CountedSubquery,
    VerdictCounts,
    call_named,
    panel_known_as,
    panel_with_calls,
    panels_listed,
    staleness,
    useful_verdicts,
    verdict_counts,
    verdicts_owed,
)

__all__ = [
    "MOST_COUNTED",
    "CountedSubquery",
    "VerdictCounts",
    "call_named",
    "panel_known_as",
    "panel_with_calls",
    "panels_listed",
    "staleness",
    "useful_verdicts",
    "verdict_counts",
    "verdicts_owed",
]
