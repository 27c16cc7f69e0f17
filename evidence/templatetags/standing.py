"""How shares look on the pages of evidence: never a percentage alone, and a bar that says no more than the words beside it."""

from typing import Any

from django import template

from evidence.counting.statistics import Share

register = template.Library()


@register.filter
def in_words(share: Share) -> str:
    """18 of 20, 70 to 97 %; or that nothing is known."""
    if not share.of:
        return "none judged"
    return f"{share.hits:,} of {share.of:,}, {percent(share.low)} to {percent(share.high)}\u00a0%"


@register.filter
def count(number: int) -> str:
    return f"{number:,}"


@register.filter
def percent(number: float) -> str:
    """A share from 0 to 1 as a whole percentage; what is not quite all or nothing is not shown as if it were."""
    if 0 < number < 0.005:
        return "<1"
    return ">99" if 0.995 <= number < 1 else f"{100 * number:.0f}"


@register.inclusion_tag("evidence/standing/bar.html")
def interval(share: Share, label: str = "") -> dict[str, Any]:
    """The interval as a bar from 0 to 100, with the share itself as a mark in it; the numbers stand beside it as text."""
    low, high = 100 * share.low, 100 * share.high
    # A mark of one hundredth, which must not stand beyond the end of the bar.
    middle = _place(99 * share.hits / share.of) if share.of else None
    return {"share": share, "label": label, "low": _place(low), "width": _place(high - low), "middle": middle}


@register.filter
def seconds(number: float | None) -> str:
    """With as many digits as it takes to tell two apart."""
    if number is None:
        return ""
    return f"{number:,.{2 if number < 1 else 1 if number < 100 else 0}f}"


def _place(number: float) -> str:
    return f"{number:.2f}"
