"""What providers and callers send, as the columns can hold it: one bad value must not lose a row, or a batch of rows.

Fits values to columns; whether they are true or allowed is decided elsewhere.
"""

from collections.abc import Mapping
from typing import Any

from django.db import models

_LARGEST = {
    "PositiveSmallIntegerField": 2**15 - 1,
    "PositiveIntegerField": 2**31 - 1,
    "PositiveBigIntegerField": 2**63 - 1,
}


def storable(model: type[models.Model], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` by field name, fit for `model`'s columns: text clean and cut to length, counts in range or unknown."""
    return {name: _fit(model._meta.get_field(name), value) for name, value in values.items()}


def clean_text(text: str) -> str:
    """PostgreSQL stores no NUL and no database a lone surrogate, and models send both."""
    text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Halves that came in two pieces of a stream become one character again.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _fit(field: Any, value: Any) -> Any:
    if isinstance(field, models.JSONField):
        return clean_json(value)
    if isinstance(value, str):
        text = clean_text(value)
        return text[: field.max_length] if field.max_length and not field.choices else text
    largest = _LARGEST.get(field.get_internal_type())
    if largest is not None and field.null:
        return value if isinstance(value, int) and 0 <= value <= largest else None
    return value


def clean_json(value: Any) -> Any:
    """The same of every text in it, names too."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(name)): clean_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value
