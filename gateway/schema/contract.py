"""What each format's module of this package has, and what it says of one route.

Values alone: how they become OpenAPI is document.py's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gateway.schema.shapes import Schema
from gateway.wire.contract import Route

JSON = "application/json"
SSE = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One route as callers see it. `reply` is by media type, None where nothing but a refusal is ever heard.

    `body`: the request's, None without one. `error` names the schema of refusals, `refusals` are their statuses.
    `parameters` are those of the path, the query and headers; `headers` those of the reply, by name. `also` are further
    responses by status, as OpenAPI has them.
    """

    summary: str
    tag: str
    error: str
    refusals: Sequence[int]
    about: str = ""
    body: Schema | None = None
    example: Any = None
    reply: Mapping[str, Schema] | None = None
    reply_about: str = "The reply."
    headers: Mapping[str, Schema] = field(default_factory=dict)
    also: Mapping[str, Schema] = field(default_factory=dict)
    parameters: Sequence[Schema] = ()
    key_in_query: bool = False


class FormatSchema(Protocol):
    """A format's module, named as its twin in gateway/wire."""

    NAME: str
    TAG: Schema
    # Components by name.
    SCHEMAS: Mapping[str, Schema]

    def operation(self, route: Route) -> Operation: ...


def lines(about: str) -> Schema:
    return {"type": "string", "description": about}


def json_text(schema: Schema) -> Schema:
    """Text that holds JSON."""
    return {"type": "string", "contentMediaType": JSON, "contentSchema": schema}


def events(about: str, **data: Schema) -> Schema:
    """Each event of a stream, by its name. One without is called `message`, as browsers call it."""
    kinds = [{"properties": {"event": {"const": name}, "data": schema}} for name, schema in data.items()]
    return {"type": "object", "description": about, "required": ["event", "data"], "anyOf": kinds}


def in_path(name: str, about: str, schema: Schema, example: Any = None) -> Schema:
    return _parameter("path", name, about, {"required": True, "schema": schema}, example)


def in_query(name: str, about: str, schema: Schema, example: Any = None) -> Schema:
    return _parameter("query", name, about, {"schema": schema}, example)


def in_header(name: str, about: str, schema: Schema, example: Any = None) -> Schema:
    return _parameter("header", name, about, {"schema": schema}, example)


def _parameter(where: str, name: str, about: str, more: Schema, example: Any) -> Schema:
    shown = {} if example is None else {"example": example}
    return {"name": name, "in": where, "description": about, **more, **shown}
