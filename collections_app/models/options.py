"""Call options: what a model's own request body may carry beside the prompt.

Says what a value may be, so that options written in TOML, JSON or a form are sent alike; sends nothing.
"""

import reprlib
from typing import Any

from django.core.exceptions import ValidationError

# The bench writes these into every request; an option of that name would ask another model or another question.
OF_THE_BENCH = frozenset({"model", "messages", "stream"})
DEEPEST = 8
# Beyond it numbers are written as one database or language does, and read as another: JSON says no more of them.
LARGEST = 2**53


def check_options(options: Any) -> None:
    """Raise ValidationError for options that JSON, TOML and every database do not hold alike."""
    if not isinstance(options, dict):
        raise ValidationError('Call options as an object, such as {"temperature": 0.2}.')
    if taken := sorted(OF_THE_BENCH & options.keys()):
        raise ValidationError(f"The bench itself sets {', '.join(taken)}.")
    _check_value(options, depth=1)


def _check_value(value: Any, *, depth: int) -> None:
    if depth > DEEPEST:
        raise ValidationError(f"Nested more than {DEEPEST} deep.")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_string(key)
            _check_value(inner, depth=depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_value(inner, depth=depth + 1)
    else:
        _check_scalar(value)


def _check_scalar(value: Any) -> None:
    if isinstance(value, bool):
        return
    if isinstance(value, str):
        _check_string(value)
    elif isinstance(value, int | float):
        # Written so that NaN, which every comparison fails, is none.
        if not abs(value) <= LARGEST:
            raise ValidationError(f"{reprlib.repr(value)} is no number that JSON can carry.")
    elif value is None:
        raise ValidationError("No null: leave the option out instead.")
    else:
        raise ValidationError(f"{reprlib.repr(value)} is neither text, number, true, false, list nor object.")


def _check_string(text: Any) -> None:
    if not isinstance(text, str) or any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text):
        raise ValidationError(f"{reprlib.repr(text)} is no text: NUL or half a character (a lone surrogate) in it.")
