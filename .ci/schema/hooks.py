"""What a schema cannot hold, put into requests before they are sent: aliases that there are, and idempotency keys of their own.

Loaded by Schemathesis, as schemathesis.toml says.
"""

from typing import Any
from uuid import uuid4

import schemathesis

# A member of every collection of the bench (test_schema.py): whoever is named so sits already.
ALIAS = "first"
LONGEST_KEY = 255


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    headers = case.headers or {}
    key = str(headers.get("Idempotency-Key") or "")
    # A longer one is meant to be refused. What came under a key before would be, too, whatever is sent now.
    if 0 < len(key) <= LONGEST_KEY:
        unique = uuid4().hex
        headers["Idempotency-Key"] = key[: -len(unique)] + unique if len(key) > len(unique) else unique
    if isinstance(case.body, dict):
        case.body = with_aliases(case.body)


def with_aliases(body: dict[str, Any]) -> dict[str, Any]:
    """The body with names of models that there are. Where no name could stand, what stands there is left."""
    named: dict[str, Any] = {}
    if isinstance(body.get("with"), list):
        named["with"] = [ALIAS if isinstance(name, str) else name for name in body["with"]]
    bench = body.get("bench")
    if isinstance(bench, dict):
        merger = {"merger": ALIAS} if isinstance(bench.get("merger"), str) else {}
        named["bench"] = with_aliases({**bench, **merger})
    return {**body, **named}
