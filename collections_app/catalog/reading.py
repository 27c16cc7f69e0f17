"""Numbers, text and dates out of JSON that others wrote: what cannot be used is unknown, and a line says so.

Knows JSON and our bounds; what a source's fields mean is the source's reader's business.
"""

import json
import math
import re
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import orjson

from collections_app.catalog.entry import SourceError
from collections_app.plain_text import tidy

MOST_BYTES = 32 * 1024 * 1024
MOST_ITEMS = 50_000
MOST_LINES = 100
LINE_LENGTH = 200
# Longest, in characters, as the rows have room for.
ID_LENGTH = 200
NAME_LENGTH = 200
# Above any window, limit or price that can be meant.
MOST_TOKENS = 1_000_000_000
MOST_DOLLARS = 1_000_000.0
YEARS = range(2015, 2101)

_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?")
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?(?![0-9])")


class LeftOut:
    """The lines of a listing's report: one for each thing that was not taken, naming it and why. Bounded."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._more = 0

    def note(self, name: str, why: str) -> None:
        if len(self._lines) < MOST_LINES - 1:
            self._lines.append(tidy(f"{name[:LINE_LENGTH]}: {why}", LINE_LENGTH))
        else:
            self._more += 1

    def lines(self) -> tuple[str, ...]:
        return (*self._lines, *((f"and {self._more} more",) if self._more else ()))


@dataclass(frozen=True, slots=True)
class Item:
    """A JSON object whose fields are read by meaning. What is absent, null or of no use is None, "" or empty.

    `name` is what a line in `left_out` calls it.
    """

    fields: Mapping[str, Any]
    left_out: LeftOut
    name: str = ""

    def inner(self, key: str) -> "Item":
        """The object under `key`; an empty one when there is none."""
        return Item(mapping(self.fields.get(key)), self.left_out, self.name)

    def items(self, key: str) -> Iterator["Item"]:
        """The objects in the list under `key`."""
        for value in listed(self.fields.get(key)):
            if isinstance(value, dict):
                yield Item(value, self.left_out, self.name)

    def text(self, *keys: str, most: int = NAME_LENGTH) -> str:
        """The first of these fields that is text that shows, without control and bidi characters, cut at `most`."""
        return next((shown for key in keys if (shown := tidy(self.fields.get(key), most))), "")

    def tokens(self, *keys: str) -> int | None:
        """The first of these fields that counts something (tokens, requests); 0 counts nothing and is unknown."""
        return next((count for key in keys if (count := self._count(key)) is not None), None)

    def dollars(self, key: str, *, times: float = 1) -> float | None:
        """A price in USD per million tokens; `times` makes it one: 1,000,000 for a price per token."""
        value = self.fields.get(key)
        if value is None or value == "":
            return None
        number = numeric(value)
        if number is None or not 0 <= number * times <= MOST_DOLLARS:
            self.left_out.note(self.name, f"{key} {reprlib.repr(value)} is no price")
            return None
        return significant(number * times)

    def day(self, *keys: str) -> str:
        """The first of these fields that is a date, as YYYY-MM-DD or YYYY-MM; seconds since 1970 count as one."""
        return next((day for key in keys if (day := iso_day(self.fields.get(key)))), "")

    def flag(self, key: str) -> bool | None:
        """True or false; also as text."""
        value = self.fields.get(key)
        if isinstance(value, str):
            return {"true": True, "false": False}.get(value[:6].lower())
        return value if isinstance(value, bool) else None

    def words(self, key: str) -> frozenset[str] | None:
        """The list of words under `key`, in lower case; None when there is no list."""
        value = self.fields.get(key)
        if not isinstance(value, list):
            return None
        return frozenset(word[:NAME_LENGTH].lower() for word in value[:MOST_LINES] if isinstance(word, str))

    def _count(self, key: str) -> int | None:
        value = self.fields.get(key)
        if value is None or value == 0 or value == "":
            return None
        number = numeric(value)
        if number is None or not 0 <= number <= MOST_TOKENS:
            self.left_out.note(self.name, f"{key} {reprlib.repr(value)} is no number that can be meant")
            return None
        return int(number) or None


def parse_json(body: bytes) -> Any:
    """Return the JSON in `body`. Raises SourceError: too large, a web page, no JSON, or nested too deep to be a listing."""
    if len(body) > MOST_BYTES:
        raise SourceError(f"it is larger than {MOST_BYTES // 1024**2} MB")
    start = body[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start:
        raise SourceError("it is empty")
    if start.startswith(b"<"):
        raise SourceError("it is a web page (HTML or XML) and not JSON")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return _parse_leniently(body)


def _parse_leniently(body: bytes) -> Any:
    """The JSON in a body where one value is what orjson refuses the whole for: NaN, half an emoji, a byte that is no UTF-8."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except RecursionError:
        raise SourceError("it is nested too deep to be a listing") from None
    except ValueError as error:
        raise SourceError(f"it is no JSON, or was cut off: {error}"[:LINE_LENGTH]) from None


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def id_problem(value: Any) -> str:
    """Why this cannot be a model's id; nothing when it can. An id is sent as it is, so it is never mended or cut."""
    if not isinstance(value, str) or not value.strip():
        return "it has no id"
    if len(value) > ID_LENGTH:
        return f"its id is longer than {ID_LENGTH} characters"
    if not value.isprintable():
        return "its id has characters that do not show"
    return ""


def numeric(value: Any) -> float | None:
    """A finite number, also when it is written as text; None for anything else."""
    if isinstance(value, str):
        value = float(value) if len(value) <= ID_LENGTH and _NUMBER.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def significant(number: float) -> float:
    """The number to nine digits: what a price loses in a conversion is mended, and none becomes 0 by it."""
    return float(f"{number:.9g}")


def iso_day(value: Any) -> str:
    """YYYY-MM-DD or YYYY-MM out of a date, a time or seconds since 1970; "" for what is none of our time."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _day_of_seconds(value)
    match = _DAY.match(value) if isinstance(value, str) else None
    if not match or int(match[1]) not in YEARS:
        return ""
    try:
        date(int(match[1]), int(match[2]), int(match[3] or 1))
    except ValueError:
        return ""
    return match[0]


def _day_of_seconds(seconds: float) -> str:
    try:
        day = datetime.fromtimestamp(seconds, UTC).date()
    except (ValueError, OverflowError, OSError):
        return ""
    return day.isoformat() if day.year in YEARS else ""
