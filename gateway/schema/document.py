"""Operations as OpenAPI writes them: paths, statuses, headers, keys.

Pure functions over what is declared; the routes they belong to are found by spectacular.py.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType

from gateway.schema import bench, bench_routes
from gateway.schema.contract import JSON, Operation
from gateway.schema.formats import (
    anthropic_messages,
    gemini,
    ollama,
    openai_chat,
    openai_completions,
    openai_responses,
    openai_shape,
)
from gateway.schema.refusals import HEADERS, WHY
from gateway.schema.shapes import Schema, ref
from gateway.wire import FORMATS
from gateway.wire.contract import Route

_FORMATS: tuple[ModuleType, ...] = (openai_chat, openai_responses, openai_completions, anthropic_messages, ollama, gemini)
_VERSION = re.compile(r"^v1(beta)?/")
SECURITY_SCHEMES: Mapping[str, Schema] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A gateway key: `Authorization: Bearer bwk_…`."},
    "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "As Anthropic's SDKs send it."},
    "x-goog-api-key": {"type": "apiKey", "in": "header", "name": "x-goog-api-key", "description": "As Google's SDKs send it."},
    "key": {"type": "apiKey", "in": "query", "name": "key", "description": "On Gemini's routes alone."},
}


def tags() -> list[Schema]:
    return [*(module.TAG for module in _FORMATS), bench_routes.TAG]


def schemas() -> dict[str, Schema]:
    """Every declared schema by name."""
    found: dict[str, Schema] = {}
    for module in (bench, bench_routes, openai_shape, *_FORMATS):
        found |= module.SCHEMAS
    return dict(sorted(found.items()))


@cache
def operations() -> Mapping[tuple[str, str], Schema]:
    """OpenAPI's operations by method and path, keys apart."""
    declared = {(method, path): _written(method, path, one) for (method, path), one in bench_routes.OPERATIONS.items()}
    return {**{key: _written(*key, one, alias) for key, one, alias in _of_formats()}, **declared}


def template(pattern: str) -> str:
    """A Django path pattern as OpenAPI writes it."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", pattern)


def _of_formats() -> Iterator[tuple[tuple[str, str], Operation, str]]:
    """Every route of every format, and the path of which it is another."""
    for module in _FORMATS:
        first: dict[tuple[str, str], str] = {}
        for route in FORMATS[module.NAME].ROUTES:
            same = (route.method, _VERSION.sub("", route.path))
            known = first.setdefault(same, route.path)
            yield (
                (route.method, template(route.path)),
                _operation(module, route),
                template(known) if known != route.path else "",
            )


def _operation(module: ModuleType, route: Route) -> Operation:
    said: Operation = module.operation(route)
    return said


def _written(method: str, path: str, operation: Operation, alias_of: str = "") -> Schema:
    written: Schema = {
        "operationId": f"{method.lower()}{re.sub('[^A-Za-z0-9]+', '_', path).rstrip('_')}",
        "summary": operation.summary,
        "tags": [operation.tag],
    }
    about = f"{operation.about} The same as `{alias_of}`.".strip() if alias_of else operation.about
    if about:
        written["description"] = about
    if operation.parameters:
        written["parameters"] = list(operation.parameters)
    if operation.body is not None:
        shown = {} if operation.example is None else {"example": operation.example}
        written["requestBody"] = {"required": True, "content": {JSON: {"schema": operation.body, **shown}}}
    written["security"] = [{name: []} for name in SECURITY_SCHEMES if name != "key" or operation.key_in_query]
    written["responses"] = {
        **_reply(operation),
        **{str(status): _refusal(operation.error, status) for status in sorted(operation.refusals)},
    }
    if alias_of:
        written["x-alias-of"] = alias_of
    return written


def _reply(operation: Operation) -> Schema:
    if operation.reply is None:
        return {}
    content = {kind: {"schema": schema} for kind, schema in operation.reply.items()}
    headers = {"headers": dict(operation.headers)} if operation.headers else {}
    return {"200": {"description": operation.reply_about, **headers, "content": content}, **operation.also}


def _refusal(error: str, status: int) -> Schema:
    return {"$ref": f"#/components/responses/{error}{status}"}


def refusals() -> dict[str, Schema]:
    """Every refusal of every format, by the name that operations refer to it with."""
    used = sorted(
        {
            response["$ref"].rpartition("/")[2]
            for one in operations().values()
            for response in one["responses"].values()
            if "$ref" in response
        }
    )
    return {name: _described(name[:-3], int(name[-3:])) for name in used}


def _described(error: str, status: int) -> Schema:
    headers = {**HEADERS.get(status, {}), **(anthropic_messages.REQUEST_ID if error == anthropic_messages.ERROR else {})}
    return {
        "description": WHY[status],
        **({"headers": headers} if headers else {}),
        "content": {JSON: {"schema": ref(error)}},
    }
