"""Text that others wrote, as it may be kept in a row and shown: on one line, and nothing in it hidden."""

from typing import Any

# As most columns have room for.
LONGEST = 200


def tidy(value: Any, most: int = LONGEST) -> str:
    """Text on one line without characters that hide or turn it around, cut at `most` characters; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    # Cut twice: a name of a megabyte is not worth reading through.
    text = value[: most * 4]
    # Not printable are controls, what turns text around (bidi), joins it unseen, is half a character or none at all.
    shown = text if text.isprintable() else "".join(mark if mark.isprintable() else " " for mark in text)
    text = " ".join(shown.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
