"""The bench as a file would say it: every endpoint, model, decision model, shape, collection and limit, and never a secret."""

from typing import Any

from collections_app.selectors import current_limits
from collections_app.services.bench_rows import present_rows, row_values
from collections_app.services.bench_tables import LIMITS, RATE_LIMITS, TABLES, TIMEOUTS, Table

ORDER = ("endpoints", "models", "decision_models", "collections", "shapes")
# Left out while nothing is set; the other keys are there to be edited.
ONLY_WHEN_SET = frozenset(
    {
        "url",
        "questions",
        "provider",
        "family",
        "context_window",
        "output_limit",
        "vision",
        "tools",
        "options",
        *RATE_LIMITS,
        *TIMEOUTS,
    }
)


def dump_bench() -> dict[str, Any]:
    """Return the bench by table, row and key, in the order in which a person would write it."""
    bench: dict[str, Any] = {name: _rows(TABLES[name]) for name in ORDER}
    bench["limits"] = _row(LIMITS, current_limits())
    return bench


def _rows(table: Table) -> dict[str, Any]:
    return {name: _row(table, instance) for name, instance in present_rows(table).items()}


def _row(table: Table, instance: Any) -> dict[str, Any]:
    values = row_values(table, instance)
    kept = (name for name, value in values.items() if name not in ONLY_WHEN_SET or value not in (None, "", [], {}))
    return {name: "" if values[name] is None else values[name] for name in kept}
