"""Bytes from an upstream as JSON, with the tolerance that upstreams need. Knows no protocol."""

import json
from collections.abc import Mapping
from typing import Any

import orjson


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
