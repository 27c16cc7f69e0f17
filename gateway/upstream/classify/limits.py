"""What a reply tells of limits in numbers, put together from its headers and its body, which are read beside this.

Believes nobody: a number may be of another tier, and what follows from it is for others.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from gateway.upstream.contract import LimitTold, UpstreamError

FIELDS = frozenset({"requests_per_minute", "requests_per_day", "tokens_per_minute", "tokens_per_day"})
# What is called something else, and the spans that are called by their seconds.
COUNTED = {"req": "requests", "call": "requests", "calls": "requests", "api calls": "requests"}
SPANS = {"min": "minute", "60": "minute", "86400": "day"}
# A reset that is further away is none: no limit of these is of more than a day.
LONGEST_RESET = 2 * 86_400.0
_COUNT = re.compile(r"\d{1,15}(?:\.0+)?")


def limit_told(
    what: str, span: str, *, limit: Any = None, remaining: Any = None, reset: float | None = None, account: bool = False
) -> LimitTold | None:
    """A limit of `what` within `span`, by whatever names; None where nothing is told of it, or of no limit that is kept."""
    field = f"{COUNTED.get(what.lower(), what.lower())}_per_{SPANS.get(span.lower(), span.lower())}"
    most, left = count_in(limit), count_in(remaining)
    if field not in FIELDS or (most is None and left is None):
        return None
    # Written so that NaN and infinity fail.
    seconds = max(reset, 0.0) if reset is not None and reset < LONGEST_RESET else None
    return LimitTold(field=field, limit=most, remaining=left, reset_seconds=seconds, account=account)


def count_in(value: Any) -> int | None:
    """Read `6000`, `"6,000"` or `"6000.0"`; None for anything else."""
    text = str(value).replace(",", "").strip() if isinstance(value, str | int) else ""
    return int(text.partition(".")[0]) if _COUNT.fullmatch(text) else None


def together(told: Iterable[LimitTold | None]) -> tuple[LimitTold, ...]:
    """Every limit once; of two that tell of the same one the first, with what it left out from the other."""
    limits: dict[tuple[str, bool], LimitTold] = {}
    for limit in told:
        if limit:
            known = limits.get((limit.field, limit.account), limit)
            limits[limit.field, limit.account] = replace(
                known,
                limit=limit.limit if known.limit is None else known.limit,
                remaining=limit.remaining if known.remaining is None else known.remaining,
                reset_seconds=limit.reset_seconds if known.reset_seconds is None else known.reset_seconds,
            )
    return tuple(limits.values())


def with_limits(error: UpstreamError, told: Iterable[LimitTold | None]) -> UpstreamError:
    """The error with these limits beside its own. A rate of none is no rate: the model is not in the account's plan."""
    limits = together((*error.limits, *told))
    if error.kind in ("rate_limited", "payment_required") and any(limit.limit == 0 for limit in limits):
        error.kind, error.span, error.retry_after = "payment_required", "", None
    error.limits = without_nothing(limits)
    return error


def without_nothing(limits: Iterable[LimitTold]) -> tuple[LimitTold, ...]:
    """Without limits of none, as some servers call it where there is no limit."""
    return tuple(limit for limit in limits if limit.limit != 0)
