"""The document as people read it: sections of routes, and shapes as rows of fields.

Reads OpenAPI alone, and writes no page; every text in it is the project's own.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from gateway.schema.contract import JSON, SSE
from gateway.schema.shapes import Schema

_NOTHING = (None, "")


@dataclass(frozen=True, slots=True)
class Row:
    """One field, or one parameter."""

    name: str
    required: bool
    kind: SafeString
    about: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A schema that has a name: fields, in one of several ways where there are any; `kind` says what it is without them."""

    name: str
    about: SafeString
    kind: SafeString
    ways: list[list[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is heard when nothing is refused, in one media type."""

    media_type: str
    kind: SafeString
    about: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`also` are other paths of the same route; `path` as an example has it in `call`."""

    anchor: str
    method: str
    path: str
    call: str
    summary: str
    about: SafeString
    also: list[str]
    parameters: list[Row]
    body_kind: SafeString
    example: str
    replies: list[Reply]
    refusals: list[str]
    needs_key: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A tag's routes, and the paths under it that are never served."""

    name: str
    about: SafeString
    routes: list[Route]
    unserved: list[str]

    @property
    def anchor(self) -> str:
        return self.name.lower().replace(" ", "-")


def sections(document: Mapping[str, Any]) -> list[Section]:
    """Return the routes by tag, in the order of tags and paths; another path of a route stands with it."""
    found = [(path, method, one) for path, methods in document["paths"].items() for method, one in methods.items()]
    also: dict[tuple[str, str], list[str]] = {}
    for path, method, one in found:
        if first := one.get("x-alias-of"):
            also.setdefault((method, first), []).append(path)
    return [_section(tag, [entry for entry in found if entry[2]["tags"] == [tag["name"]]], also) for tag in document["tags"]]


def _section(tag: Schema, found: list[tuple[str, str, Schema]], also: Mapping[tuple[str, str], list[str]]) -> Section:
    mine = [entry for entry in found if "x-alias-of" not in entry[2]]
    served = [_route(*entry, also.get((entry[1], entry[0]), [])) for entry in mine if _is_served(entry[2])]
    return Section(tag["name"], said(tag["description"]), served, [path for path, _, one in found if not _is_served(one)])


def _is_served(operation: Schema) -> bool:
    return any(status.startswith("2") for status in operation["responses"])


def _route(path: str, method: str, operation: Schema, also: list[str]) -> Route:
    body = operation.get("requestBody", {}).get("content", {}).get(JSON, {})
    schema = body.get("schema", {})
    parameters = operation.get("parameters", [])
    return Route(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        call=_called(path, parameters),
        summary=operation["summary"],
        about=said(operation.get("description", "")),
        also=also,
        parameters=[_parameter(one) for one in parameters],
        body_kind=kind(schema) if body else mark_safe(""),
        example=json.dumps(body["example"], ensure_ascii=False) if "example" in body else "",
        replies=list(_replies(operation["responses"]["200"])),
        refusals=[status for status in operation["responses"] if not status.startswith("2")],
        needs_key={} not in operation["security"],
    )


def _called(path: str, parameters: list[Schema]) -> str:
    """The path with its parameters filled in, and those of the query that have an example."""
    for one in parameters:
        path = path.replace(f"{{{one['name']}}}", str(one.get("example", "")))
    return path


def _parameter(one: Schema) -> Row:
    where = format_html("{}, in the {}", kind(one["schema"]), one["in"])
    return Row(one["name"], one.get("required", False), where, said(one["description"]))


def _replies(response: Schema) -> Iterator[Reply]:
    for media_type, media in response["content"].items():
        schema = media.get("schema", {})
        told = _events(schema) if media_type == SSE else kind(schema)
        yield Reply(media_type=media_type, kind=told, about=said(schema.get("description", "")))


def _events(schema: Schema) -> SafeString:
    """The events of a stream, by their names."""
    events = (one["properties"] for one in schema["anyOf"])
    return format_html_join(", ", "<code>{}</code> {}", ((one["event"]["const"], _data(one["data"])) for one in events))


def _data(schema: Schema) -> SafeString:
    """What an event holds, where that has a name."""
    told = kind(schema)
    return format_html("({})", told) if "#shape-" in told else mark_safe("")


def shapes(document: Mapping[str, Any]) -> list[Shape]:
    """Return every schema that has a name."""
    return [_shape(name, schema) for name, schema in document["components"]["schemas"].items()]


def _shape(name: str, schema: Schema) -> Shape:
    ways = [rows(way) for way in schema.get("anyOf", [schema])]
    told = [way for way in ways if way]
    return Shape(name=name, about=said(schema.get("description", "")), kind=mark_safe("") if told else kind(schema), ways=told)


def rows(schema: Schema, before: str = "") -> list[Row]:
    """Return an object's fields, those of a field that has no name of its own behind it."""
    inner = next((part for part in schema.get("allOf", ()) if "properties" in part), schema)
    required = inner.get("required", ())
    listed: list[Row] = []
    for name, field in inner.get("properties", {}).items():
        listed.append(Row(f"{before}{name}", name in required, kind(field), said(field.get("description", ""))))
        listed += rows(field, f"{before}{name}.") if "properties" in field else []
    return listed


def kind(schema: Schema) -> SafeString:
    """Return in words what a value is. Null is left out: a field that is null counts as absent."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return format_html('<a href="#shape-{}">{}</a>', name, name)
    if "const" in schema or "enum" in schema:
        values = [schema["const"]] if "const" in schema else [value for value in schema["enum"] if value not in _NOTHING]
        return format_html_join(" or ", "<code>{}</code>", ((json.dumps(value, ensure_ascii=False),) for value in values))
    if "anyOf" in schema:
        ways = dict.fromkeys(kind(part) for part in schema["anyOf"] if part.get("type") != "null")
        return format_html_join(" or ", "{}", ((way,) for way in ways))
    # What stands behind the first narrows it in ways that take more than a word.
    return kind(schema["allOf"][0]) if "allOf" in schema else _plain(schema)


def _plain(schema: Schema) -> SafeString:
    types = schema.get("type", "anything")
    name = next((one for one in types if one != "null"), "null") if isinstance(types, list) else types
    if name == "array":
        return mark_safe("empty list") if schema.get("maxItems") == 0 else format_html("list of {}", kind(schema["items"]))
    if "contentSchema" in schema:
        return format_html("JSON of {}", kind(schema["contentSchema"]))
    return format_html("{}", name)


def said(text: str) -> SafeString:
    """A sentence of the project's own: what stands between backquotes is code."""
    parts = text.strip().split("`")
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if at % 2 else part,) for at, part in enumerate(parts))
    )
