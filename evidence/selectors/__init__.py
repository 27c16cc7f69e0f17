"""Reading the call log. Writes nothing and ranks nobody."""

from evidence.selectors.calls import (
    VerdictCounts,
    call_named,
    panel_known_as,
    panel_with_calls,
    panels_listed,
    useful_verdicts,
    verdict_counts,
    verdicts_owed,
)
from evidence.selectors.listing import Found, Wanted, find_panels, panels_among
from evidence.selectors.reading import (
    MOST_VERDICTS,
    TEXTS,
    call_to_judge,
    panel_to_read,
    pk_of_panel,
    whole_request,
    whole_text,
)
from evidence.selectors.staleness import MOST_COUNTED, Staleness, staleness

__all__ = [
    "MOST_COUNTED",
    "MOST_VERDICTS",
    "TEXTS",
    "Found",
    "Staleness",
    "VerdictCounts",
    "Wanted",
    "call_named",
    "call_to_judge",
    "find_panels",
    "panel_known_as",
    "panel_to_read",
    "panel_with_calls",
    "panels_among",
    "panels_listed",
    "pk_of_panel",
    "staleness",
    "useful_verdicts",
    "verdict_counts",
    "verdicts_owed",
    "whole_request",
    "whole_text",
]
