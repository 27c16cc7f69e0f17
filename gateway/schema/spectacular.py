"""drf-spectacular's view of the gateway: each route's operation is looked up, not guessed from its view.

It finds the routes, puts the document together and checks it; what is said in it is declared beside each format.
"""

from typing import Any

from drf_spectacular.openapi import AutoSchema

from gateway.schema.document import SECURITY_SCHEMES, operations, refusals, schemas, tags
from gateway.schema.shapes import Schema
from keys.services import keys_are_required


class DeclaredSchema(AutoSchema):
    """The site's DEFAULT_SCHEMA_CLASS."""

    def get_operation(self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any) -> Schema:
        """Raises LookupError for a route that nobody has declared."""
        declared = operations().get((method, path))
        if declared is None:
            raise LookupError(f"{method} {path} is not declared in gateway/schema.")
        # No key is one more way, where the bench asks for none.
        return declared if keys_are_required() else {**declared, "security": [*declared["security"], {}]}


def with_components(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """Add what the operations refer to. One of drf-spectacular's POSTPROCESSING_HOOKS."""
    components = {"schemas": schemas(), "responses": refusals(), "securitySchemes": dict(SECURITY_SCHEMES)}
    return {**result, "tags": tags(), "components": components}
