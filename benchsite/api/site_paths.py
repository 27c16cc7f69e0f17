"""The site's own routes in the schema: its health, and the schema itself."""

from typing import Any

from gateway.schema.contract import JSON, in_query
from gateway.schema.shapes import Schema, always, one_of, text, told

YAML = "application/yaml"
TAG: Schema = {"name": "Server", "description": "For supervisors and load balancers. No key is asked for."}
_READY = told(status=always("ok"))
_NOT_READY = told(status=always("not ready"), why=text())
_OPENAPI: Schema = {"type": "object", "required": ["openapi", "info", "paths"], "description": "This document."}


def _get(name: str, summary: str, **more: Any) -> Schema:
    return {"get": {"operationId": f"get_{name}", "summary": summary, "tags": [TAG["name"]], "security": [{}], **more}}


def _reply(about: str, **content: Schema) -> Schema:
    return {"description": about, "content": {kind: {"schema": schema} for kind, schema in content.items()}}


PATHS: Schema = {
    "/healthz": _get("healthz", "Is the process alive", responses={"200": _reply("It answers.", **{JSON: _READY})}),
    "/readyz": _get(
        "readyz",
        "Can it work",
        responses={
            "200": _reply("The database answers, has every migration, and a panel would be taken.", **{JSON: _READY}),
            "503": _reply("It cannot, and why.", **{JSON: _NOT_READY}),
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
