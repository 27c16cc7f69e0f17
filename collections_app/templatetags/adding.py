"""How what a catalog knows of a model looks on a page: its terms, its window."""

from collections.abc import Iterator

from django import template

from collections_app.catalog.onboarding.candidates import Candidate

register = template.Library()

WORDS = {
    "zero": "price zero",
    "quota": "free quota",
    "local": "local",
    "plan": "included in a plan",
}


@register.filter
def terms(one: Candidate) -> dict[str, str]:
    """A word for how free it is and the word's colour, its price, and what is free a day or a minute."""
    return {
        "word": WORDS.get(one.free, ""),
        "colour": "good" if one.is_free else "note",
        "price": _price(one),
        "quota": ", ".join(_quota(one)),
    }


@register.filter
def tokens(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _price(one: Candidate) -> str:
    if one.price_in is None and one.price_out is None:
        return "" if one.free else "price unknown"
    if not one.price_in and not one.price_out:
        return ""
    return f"{_dollars(one.price_in)} in, {_dollars(one.price_out)} out"


def _dollars(price: float | None) -> str:
    if price is None:
        return "?"
    return f"${price:,.2f}" if price >= 0.1 or not price else f"${price:.2g}"


def _quota(one: Candidate) -> Iterator[str]:
    if one.requests_per_day:
        yield f"{one.requests_per_day:,} a day"
    if one.requests_per_minute:
        yield f"{one.requests_per_minute:,} a minute"
