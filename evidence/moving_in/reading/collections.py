"""Collections and the gateway's limits."""

from typing import Any

from evidence.moving_in.reading.fields import UnusableError, text, texts
from evidence.moving_in.reading.values import OldCollection

LIMITS = ("max_calls", "max_explorers")


def read_collection(name: str, entry: Any) -> OldCollection:
    """One collection. Raises UnusableError."""
    if not isinstance(entry, dict):
        raise UnusableError("no object")
    return OldCollection(
        name=name,
        members=tuple(dict.fromkeys(texts(entry, "members"))),
        # Earlier versions kept the description as a note.
        description=" ".join((text(entry, "description") or text(entry, "note")).split()),
        tags=tuple(dict.fromkeys(tag.strip().lower() for tag in texts(entry, "tags"))),
        shape=text(entry, "shape").strip(),
        reply=text(entry, "reply").strip() or "all",
        merger=text(entry, "merger").strip(),
    )


def read_limit(name: str, value: Any) -> int:
    """One limit. Raises UnusableError."""
    if name not in LIMITS:
        raise UnusableError("not a setting of this bench")
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnusableError("no whole number")
    return value
