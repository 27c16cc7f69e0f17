"""Bytes from an upstream as JSON, with the tolerance that upstreams need. Knows no protocol."""

import json
from collections.abc import Mapping
from typing import Any

import orjson

LONGEST_NAME = 200
# A count above this is no count, and no column holds it.
MOST_TOKENS = 2**31


def read_json(data: bytes) -> Any:
    """Return what `data` holds. Raises ValueError.

    orjson refuses what some upstreams send: bytes that are not UTF-8, half a surrogate pair where a relay cut a text
    between its UTF-16 units, NaN. The standard library, twenty times slower, gets a second look at those.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            return json.loads(data.decode("utf-8", "replace"))
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def write_json(payload: Mapping[str, Any]) -> bytes:
    """Return `payload` as a request body. Raises TypeError or ValueError for what JSON cannot say."""
    try:
        return orjson.dumps(payload)
    except TypeError:
        # A prompt may hold half a surrogate pair, an option an integer above 64 bits; escaped, they can be sent.
        return json.dumps(payload, allow_nan=False).encode()


def mapping_of(value: Any) -> Mapping[str, Any]:
    """`value` if it is a JSON object, else an empty one: an upstream's shapes are a habit, not a promise."""
    return value if isinstance(value, dict) else {}


def unwrapped(payload: Any) -> Mapping[str, Any]:
    """The object itself, also out of a list of one, as some relays send errors."""
    return mapping_of(payload[0] if isinstance(payload, list) and payload else payload)


def text_of(value: Any) -> str:
    """`value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def whole_characters(text: str) -> str:
    """Return `text` with surrogate halves joined to characters, or replaced where their other half is missing."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def short(name: str) -> str:
    """Return what is a name and no text, such as a model's or a finish reason: on one line, whole, no longer than any is."""
    return " ".join(whole_characters(name[: 2 * LONGEST_NAME]).split())[:LONGEST_NAME]


def count_of(value: Any) -> int | None:
    """`value` if it counts tokens, else None."""
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None


def first_count(usage: Mapping[str, Any], *names: str) -> int | None:
    """The first of these fields that counts tokens: some servers keep the names of another format."""
    return next((count for name in names if (count := count_of(usage.get(name))) is not None), None)
