"""Fields of somebody else's JSON: of the type they should have, or a reason that does not quote them."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

EARLIEST, LATEST = 1970, 2200


class UnusableError(Exception):
    """An entry that cannot come in; says why, and never quotes it."""


def text(entry: Mapping[str, Any], name: str, default: str | None = "") -> str:
    """A text; absent or null: the default. Raises UnusableError, also where it is absent and has no default."""
    value = entry.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise UnusableError(f"{name} is no text" if value is not None else f"no {name}")
    return value


def texts(entry: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts, those left away that say nothing; absent or null: none. Raises UnusableError."""
    value = entry.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UnusableError(f"{name} is no list of texts")
    return tuple(item for item in value if item.strip())


def table(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object; absent or null: an empty one. Raises UnusableError."""
    value = entry.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnusableError(f"{name} is no object")
    return value


def seconds(value: Any) -> float | None:
    """A time that something took; None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before it is converted: an integer may be too large for a float.
    return float(value) if 0 <= value <= 10**9 and math.isfinite(value) else None


def moment(value: Any) -> datetime | None:
    """A date and time in UTC, in which those without a zone are taken to be; None for what is none."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
        if not EARLIEST <= found.year <= LATEST:
            return None
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
