"""The site's own routes in the schema: its health, and the schema itself."""

from typing import Any

from gateway.schema.contract import JSON, in_query
from gateway.schema.shapes import Schema, always, one_of, text, told

YAML = "application/yaml"
TEXT = "text/plain"
TAG: Schema = {
    "name": "Server",
    "description": "For supervisors, load balancers and whoever reads the schema. No gateway key is asked for.",
}
_CHECKS: Schema = {"type": "object", "additionalProperties": text(), "description": "Each `ok`, or why it is not."}
_ALIVE = told(status=always("ok"))
_READY = told(status=always("ok"), checks=_CHECKS)
_NOT_READY = told(status=always("not ready"), why=text(), checks=_CHECKS)
_OPENAPI: Schema = {"type": "object", "required": ["openapi", "info", "paths"], "description": "This document."}


def _get(name: str, summary: str, **more: Any) -> Schema:
    return {"get": {"operationId": f"get_{name}", "summary": summary, "tags": [TAG["name"]], "security": [{}], **more}}


def _reply(about: str, **content: Schema) -> Schema:
    return {"description": about, "content": {kind: {"schema": schema} for kind, schema in content.items()}}


PATHS: Schema = {
    "/healthz": _get("healthz", "Is the process alive", responses={"200": _reply("It answers.", **{JSON: _ALIVE})}),
    "/readyz": _get(
        "readyz",
        "Can it work",
        responses={
            "200": _reply("A panel would be taken.", **{JSON: _READY}),
            "503": _reply("It cannot, and why.", **{JSON: _NOT_READY}),
        },
    ),
    "/metrics": _get(
        "metrics",
        "What the process has counted",
        description="For Prometheus, on this machine. From elsewhere, or where the dashboard asks for a login, it takes "
        "BENCH_METRICS_TOKEN or the admin token as `Authorization: Bearer`.",
        responses={
            "200": {"description": "The numbers.", "content": {TEXT: {}, "application/openmetrics-text": {}}},
            "401": _reply("No token, or another.", **{TEXT: text()}),
            "403": _reply("No token is set, and this machine alone is told.", **{TEXT: text()}),
            "429": _reply("Too many wrong tokens.", **{TEXT: text()}),
        },
    ),
    "/api-schema": _get(
        "api_schema",
        "This document",
        description="By Accept or by `format`. It holds nothing of this bench: no name, no collection.",
        parameters=[in_query("format", "Instead of Accept.", one_of("json", "yaml"), "yaml")],
        responses={
            "200": {"description": "The routes as OpenAPI.", "content": {JSON: {"schema": _OPENAPI}, YAML: {}}},
            "400": _reply("Another format.", **{JSON: told(error=text())}),
        },
    ),
}


def with_site_paths(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """Add them. One of drf-spectacular's POSTPROCESSING_HOOKS."""
    return {**result, "tags": [*result["tags"], TAG], "paths": {**result["paths"], **PATHS}}
