"""A request to /mcp that is refused before the protocol begins, in the shape in which the protocol's clients read errors.

Knows no reason; the edge's refusals bring their words and status.
"""

from typing import Any

NAME = "mcp"

INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603


def render_error(status: int, message: str, **extra: Any) -> dict[str, Any]:
    """Return a JSON-RPC error that answers no request in particular: whose id it was is not read before it is let in."""
    code = INVALID_REQUEST if status < 500 else INTERNAL_ERROR
    told = {name: extra[name] for name in ("code", "param") if extra.get(name)}
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, "data": {"status": status, **told}}}
