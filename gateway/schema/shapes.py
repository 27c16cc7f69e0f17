"""JSON Schema in fewer words: the types that bodies are declared with.

Says what is read and written, and reads and writes nothing.
"""

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

ANYTHING: Schema = {}
# White space may stand in it, as shells break lines.
BASE64 = r"^\s*([A-Za-z0-9+/_=%-]\s*)+$"
_MEDIA_TYPE = r"[A-Za-z0-9_.+-]{1,40}(;[A-Za-z0-9_=.+-]{1,60})*"
IMAGE_TYPE = rf"^[iI][mM][aA][gG][eE]/{_MEDIA_TYPE}$"
IMAGE_URL: Schema = {
    "type": "string",
    "pattern": r"^([hH][tT][tT][pP][sS]?://|"
    rf"[dD][aA][tT][aA]:[iI][mM][aA][gG][eE]/{_MEDIA_TYPE};[bB][aA][sS][eE]64,\s*([A-Za-z0-9+/_=%-]\s*)+$)",
    "description": "An http(s):// URL, which the bench passes on and never opens, or data:image/png;base64,… .",
    "examples": ["https://photos.example/a.jpg"],
}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def text(about: str = "", **more: Any) -> Schema:
    return _about({"type": "string", **more}, about)


def flag(about: str = "") -> Schema:
    return _about({"type": "boolean"}, about)


def whole(about: str = "", **more: Any) -> Schema:
    return _about({"type": "integer", "minimum": 0, **more}, about)


def number(about: str = "", **more: Any) -> Schema:
    return _about({"type": "number", **more}, about)


def one_of(*values: Any, about: str = "") -> Schema:
    return _about({"enum": list(values)}, about)


def always(value: Any) -> Schema:
    return {"const": value}


def listed(items: Schema, about: str = "", *, least: int = 0, most: int | None = None) -> Schema:
    limits = {**({"minItems": least} if least else {}), **({"maxItems": most} if most is not None else {})}
    return _about({"type": "array", "items": items, **limits}, about)


def record(required: Sequence[str] = (), about: str = "", /, **fields: Schema) -> Schema:
    """An object of which more may be sent than is read."""
    return _about({"type": "object", **({"required": list(required)} if required else {}), "properties": fields}, about)


class _Perhaps(dict[str, Any]):
    """The schema of a field that may be missing."""


def perhaps(schema: Schema) -> Schema:
    return _Perhaps(schema)


def told(about: str = "", /, **fields: Schema) -> Schema:
    """An object as the bench writes it: every field is there but those that are perhaps()."""
    required = [name for name, schema in fields.items() if not isinstance(schema, _Perhaps)]
    return record(required, about, **{name: dict(schema) for name, schema in fields.items()})


def either(*schemas: Schema, about: str = "") -> Schema:
    return _about({"anyOf": list(schemas)}, about)


def or_null(schema: Schema) -> Schema:
    """A field that is null counts as absent."""
    about = schema.get("description", "")
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return either(schema, {"type": "null"}, about=about)


def nothing(about: str) -> Schema:
    """A field that is refused unless it says nothing: null, or an empty list."""
    return {"type": ["array", "null"], "maxItems": 0, "description": f"Refused with 400 unless empty. {about}".strip()}


def null(about: str) -> Schema:
    return {"type": "null", "description": f"Refused with 400. {about}".strip()}


def ignored(*names: str, about: str = "") -> dict[str, Schema]:
    """Settings of whichever type that reach no seat."""
    words = about or "Ignored, and named in `bench.ignored`: each model keeps its own call options."
    return {name: {"description": words} for name in names}


def _about(schema: Schema, about: str) -> Schema:
    return {**schema, "description": about} if about else schema
