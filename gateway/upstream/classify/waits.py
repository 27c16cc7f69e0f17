"""How long an upstream asks to be left alone, from its headers, its body or its prose.

In order of trust: retry-after-ms, Retry-After, the body's own fields, prose, reset headers whose remainder is 0. When a
limit is whole again without anybody saying so is scopes.py.
"""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from gateway.upstream.classify.bodies import DEEPEST, Said
from gateway.upstream.classify.scopes import Scope
from gateway.upstream.payload import mapping_of

LONGEST_WAIT = 86_400.0
# Above these a number is a moment, in milliseconds or seconds of Unix time; below, it is seconds to go.
EPOCH_MS, EPOCH = 1e12, 1e9

# Nothing longer is a duration or a date.
LONGEST_MOMENT = 100
_PART = (
    r"\d{1,15}(?:\.\d{1,15})?\s*(?:ms|milliseconds?|d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])"
)
_STEP = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DURATION = re.compile(rf"(?:{_PART}[\s,]*(?:and\s+)?)+", re.IGNORECASE)
_PROSE = re.compile(
    r"(?:try again|retry(?:ing)?|wait|reset\w{0,5}|available)(?:\s+(?:again|in|after|for|about|at least|another)){0,3}\s+"
    rf"({_DURATION.pattern})",
    re.IGNORECASE,
)
_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}


def wait_for(headers: Mapping[str, str], said: Said, scope: Scope, now: float) -> float | None:
    """Seconds until this limit lets anybody in again, at most a day; None where nobody can tell.

    What holds for a day or a month holds until that is over, whatever shorter wait another limit asks for beside it.
    """
    told, whole = wait_in(headers, said, now), scope.seconds_left(now)
    if whole is None or (scope.rolling and told is not None):
        return told
    return min(max(told or 0.0, whole), LONGEST_WAIT)


def wait_in(headers: Mapping[str, str], said: Said, now: float) -> float | None:
    """Seconds to wait, at most a day; None where nothing is said. `headers` by lower-case names, `now` in Unix time."""
    for wait in _waits(headers, said, now):
        if wait is not None and math.isfinite(wait):
            return min(max(wait, 0.0), LONGEST_WAIT)
    return None


def seconds_in(duration: str) -> float | None:
    """Read `7m12s`, `38.2s`, `850ms`, `6`, `20 seconds`, `1d2h`; None for anything else."""
    duration = duration.strip()
    if len(duration) > LONGEST_MOMENT:
        return None
    if _NUMBER.fullmatch(duration):
        return float(duration)
    if not _DURATION.fullmatch(duration):
        return None
    return sum(float(number) * _unit(unit.lower()) for number, unit in _STEP.findall(duration))


def seconds_until(moment: str, now: float) -> float | None:
    """Read a duration, Unix time in seconds or milliseconds, an ISO or an HTTP date, as seconds from `now`."""
    seconds = seconds_in(moment)
    if seconds is None:
        when = _date(moment)
        return None if when is None else when - now
    if seconds >= EPOCH:
        return (seconds / 1000 if seconds >= EPOCH_MS else seconds) - now
    return seconds


def _waits(headers: Mapping[str, str], said: Said, now: float) -> Iterator[float | None]:
    milliseconds = seconds_in(headers.get("retry-after-ms", ""))
    yield None if milliseconds is None else milliseconds / 1000
    yield seconds_until(headers.get("retry-after", ""), now)
    for field, value in _fields(said.payload):
        if field in ("retrydelay", "retry_after", "retry_after_seconds", "x-ratelimit-reset"):
            yield seconds_until(str(value), now)
    prose = _PROSE.search(said.message)
    yield seconds_in(prose[1].strip(" ,")) if prose else None
    yield _used_up(headers, now)


def _used_up(headers: Mapping[str, str], now: float) -> float | None:
    """The longest wait among the limits of which nothing remains."""
    resets = [
        seconds_until(headers.get(name.replace("remaining", "reset"), ""), now)
        for name, value in headers.items()
        if "remaining" in name and _NUMBER.fullmatch(value.strip()) and float(value) == 0
    ]
    return max((reset for reset in resets if reset is not None), default=None)


def _fields(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every field of a body with its lower-case name, outermost first."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for item in value[:10]:
            yield from _fields(item, depth + 1)
    for name, inner in mapping_of(value).items():
        if isinstance(inner, dict | list):
            yield from _fields(inner, depth + 1)
        else:
            yield name.lower(), inner


def _unit(name: str) -> float:
    return 0.001 if name.startswith(("ms", "mil")) else _UNITS[name[0]]


def _date(text: str) -> float | None:
    if not text or len(text) > LONGEST_MOMENT:
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            when = read(text.strip())
        except (ValueError, TypeError, IndexError):
            continue
        try:
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        except (OverflowError, ValueError):
            return None
    return None
