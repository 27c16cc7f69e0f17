"""How what is known of a model, and how it does, looks on a page: values in their units, limits, moments.

Words alone; what others wrote still has to be escaped, and spelt out by `visible`, where it is shown.
"""

from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.timesince import timeuntil

from collections_app.models import CatalogEntry
from collections_app.models.catalog import FIELDS
from collections_app.services.quotas.claims import is_low

register = template.Library()
register.filter(is_low)

NAMES = {
    "context_window": "Context window",
    "output_limit": "Longest answer",
    "vision": "Takes images",
    "tools": "Takes tools",
    "price_in": "Price of input",
    "price_out": "Price of output",
    "retires": "Retires",
    "free": "Free",
}
FREE = {"zero": "free", "quota": "free quota", "plan": "in a plan", "local": "local"}
FEW_SECONDS = 100
PRICES = ("price_in", "price_out")
LONGEST = 100


@register.filter
def field_name(field: str) -> str:
    """What a field is called: Context window, Requests a day."""
    return NAMES.get(field) or limit_name(field).capitalize()


@register.filter
def unit(field: str) -> str:
    """The unit that a value is read in; none where the value says it itself."""
    said = FIELDS[field]
    return said if said in ("tokens", "USD per million tokens") and "_per_" not in field else ""


@register.filter
def limit_name(field: str) -> str:
    """requests_per_day as `requests a day`."""
    return field.replace("_per_", " a ").replace("_", " ")


@register.filter
def in_words(value: Any, field: str) -> str:
    """A known value for people: 131,072, yes, $0.15."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if field in PRICES and isinstance(value, int | float):
        return dollars(value)
    if field == "free" and value in CatalogEntry.Free.values:
        return str(CatalogEntry.Free(value).label)
    return f"{value:,}" if isinstance(value, int) else str(value)[:LONGEST]


def dollars(price: float) -> str:
    """USD; a small price keeps two digits that say something."""
    return f"${price:,.2f}" if price >= 0.1 or not price else f"${price:.2g}"


@register.filter
def moment(at: datetime | str | None) -> str:
    """When, in UTC; the day only where it is not today."""
    if not isinstance(at, datetime):
        return ""
    return f"{at:%H:%M} UTC" if at.date() == timezone.now().date() else f"{at:%Y-%m-%d %H:%M} UTC"


@register.filter
def in_time(until: datetime, now: datetime) -> str:
    """How long that is from now: 40 seconds, 58 minutes, 1 day and 2 hours."""
    seconds = (until - now).total_seconds()
    return f"{max(0, round(seconds))} seconds" if seconds < FEW_SECONDS else timeuntil(until, now).replace(",", " and")


@register.filter
def free_word(kind: str) -> str:
    """The kind of free in a word or two."""
    return FREE.get(kind, kind[:LONGEST])
