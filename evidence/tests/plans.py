"""How the database finds what a query asks for, as it tells itself."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext


def plans_of(ask: Callable[[], Any]) -> list[list[str]]:
    """The steps of each query that `ask` sends."""
    with CaptureQueriesContext(connection) as queries:
        ask()
    explain = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    return [_steps(explain + query["sql"]) for query in queries]


def _steps(sql: str) -> list[str]:
    # By itself PostgreSQL does so once a table has grown; SQLite never does.
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE")
        cursor.execute(sql)
        return [step[-1].strip() for step in cursor.fetchall()]
