"""How what a catalog knows of a model looks on a page: its terms, its window."""

from collections.abc import Iterator

from django import template

from collections_app.catalog.onboarding.candidates import Candidate
from collections_app.templatetags.knowledge import dollars

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
    way_in, way_out = ("?" if price is None else dollars(price) for price in (one.price_in, one.price_out))
    return f"{way_in} in, {way_out} out"


def _quota(one: Candidate) -> Iterator[str]:
    if one.requests_per_day:
        yield f"{one.requests_per_day:,} a day"
    if one.requests_per_minute:
        yield f"{one.requests_per_minute:,} a minute"
