"""What a verdict may look like, for every way of giving one. JSON's types are taken as they are: "yes" is no boolean.

Knows no call; whether there is one to judge is decided in services.py.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from rest_framework import serializers

from evidence.errors import MalformedQuery, MalformedVerdict

LONGEST_CALL_ID = 64
LONGEST_TEXT = 10_000
LONGEST_CORRECTION = 100_000
LONGEST_CLAIM = 2_000
MOST_CLAIMS = 100
MOST_NAMED = 5
OWED_AT_ONCE = 20
MOST_OWED_AT_ONCE = 100


class StrictBoolean(serializers.BooleanField):
    default_error_messages = {"invalid": "must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class StrictText(serializers.CharField):
    """Text as it was sent. NUL and lone surrogates are refused by the field: no database keeps them."""

    default_error_messages = {"invalid": "must be a string.", "max_length": "at most {max_length} characters."}

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class StrictScore(serializers.FloatField):
    default_error_messages = {"invalid": "must be a number from 0 to 1."}

    def to_internal_value(self, data: Any) -> float:
        # Compared before it is converted: NaN is in no range, and an integer may be too large for a float.
        if isinstance(data, bool) or not isinstance(data, int | float) or not 0 <= data <= 1:
            self.fail("invalid")
        return float(data)


class Claim(StrictText):
    """A claim says something: one of spaces alone would count, as a find too."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not text.strip():
            self.fail("blank")
        return text


class Claims(serializers.ListField):
    """Few claims: how many there are is judged first, for each of a million wrong ones would be an error of its own."""

    child = Claim(max_length=LONGEST_CLAIM)

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > MOST_CLAIMS:
            self.fail("max_length", max_length=MOST_CLAIMS)
        return list(super().to_internal_value(data))


class VerdictSerializer(serializers.Serializer[Any]):
    call = StrictText(max_length=LONGEST_CALL_ID)
    useful = StrictBoolean()
    note = StrictText(max_length=LONGEST_TEXT, allow_blank=True, required=False)
    real = Claims(required=False)
    false = Claims(required=False)
    score = StrictScore(allow_null=True, required=False)
    correction = StrictText(max_length=LONGEST_CORRECTION, allow_blank=True, required=False)


def read_verdict(payload: Any) -> dict[str, Any]:
    """Return a verdict's fields. Raises MalformedVerdict, which names each field that is wrong and why."""
    if not isinstance(payload, Mapping):
        raise MalformedVerdict('a verdict is a JSON object: {"call": "...", "useful": true}.')
    serializer = VerdictSerializer(data=payload)
    # A misspelt field would lose what it says; useful alone would still be taken for the whole judgement.
    unknown = islice((str(name) for name in payload if name not in serializer.fields), MOST_NAMED)
    if said := [_unknown(name, serializer.fields) for name in unknown]:
        raise MalformedVerdict(" ".join(said))
    if not serializer.is_valid():
        raise MalformedVerdict(" ".join(_first_error(name, found) for name, found in serializer.errors.items()))
    return dict(serializer.validated_data)


def read_owed_query(query: Mapping[str, str]) -> tuple[int, str]:
    """Return how many verdicts owed are wanted, and of which panel, empty for all. Raises MalformedQuery."""
    limit = query.get("limit", str(OWED_AT_ONCE))
    if not (limit.isascii() and limit.isdigit() and len(limit) < 10 and 1 <= int(limit) <= MOST_OWED_AT_ONCE):
        raise MalformedQuery(f"limit: a number from 1 to {MOST_OWED_AT_ONCE}; {OWED_AT_ONCE} when left out.")
    return int(limit), query.get("panel", "")


def _unknown(name: str, fields: Iterable[str]) -> str:
    near = get_close_matches(name[:LONGEST_CALL_ID], fields, n=1)
    return f"{name[:40]}: no such field; " + (f"did you mean {near[0]}?" if near else f"a verdict has {', '.join(fields)}.")


def _first_error(name: str, found: Any) -> str:
    """A field's errors are a list, or lists by position where the field is a list."""
    if isinstance(found, Mapping):
        position, texts = next(iter(found.items()))
        return f"{name}[{position}]: {texts[0]}"
    return f"{name}: {found[0]}"
