"""Gateway keys: both benches keep the SHA-256 of a key's text in hexadecimal, so that a key goes on being valid."""

import re
from collections.abc import Mapping
from typing import Any

from evidence.moving_in.reading.fields import UnusableError, moment, text
from evidence.moving_in.reading.values import OldKey

_DIGEST = re.compile(r"[0-9a-f]{64}")
MOST_A_MINUTE = 100_000


def read_key(name: str, entry: Any) -> OldKey:
    """One key. Raises UnusableError."""
    if not isinstance(entry, dict):
        raise UnusableError("no object")
    digest = text(entry, "sha256", None)
    if not _DIGEST.fullmatch(digest):
        raise UnusableError("sha256 is no SHA-256 in small hexadecimal digits")
    rpm, told = entry.get("rpm"), []
    if rpm is not None and not _is_cap(rpm):
        rpm = None
        told.append("its requests a minute are no number: none is set, as it was there")
    hint = entry.get("hint")
    return OldKey(
        name=name,
        digest=digest,
        last_four=hint if isinstance(hint, str) and len(hint) <= 4 else "",
        collections=_collections(entry, told),
        rpm=rpm,
        created_at=moment(entry.get("created")),
        last_used_at=moment(entry.get("last_used")),
        told=tuple(told),
    )


def _collections(entry: Mapping[str, Any], told: list[str]) -> tuple[str, ...] | None:
    allowed = entry.get("collections")
    if allowed is None or allowed == []:
        return None
    if not isinstance(allowed, list) or not all(isinstance(one, str) for one in allowed):
        told.append("its collections are no list of names: it may ask none, as it was there")
        return ()
    return tuple(dict.fromkeys(allowed))


def _is_cap(rpm: Any) -> bool:
    return isinstance(rpm, int) and not isinstance(rpm, bool) and 1 <= rpm <= MOST_A_MINUTE
