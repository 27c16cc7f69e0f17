"""How calls end, as rows of one statement: however many end at once, the database is asked once.

The ORM builds its UPDATE anew for every row, and on SQLite each execution has the thread that writes the log wait for the
interpreter several times.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import connection

from evidence.models import Call, Panel

# A call's id, and the columns of ENDING by name.
Ending = tuple[str, Mapping[str, Any]]

ENDING = (
    "status",
    "error_kind",
    "error",
    "answer",
    "partial",
    "reasoning",
    "finish_reason",
    "served_model",
    "seconds",
    "first_token_seconds",
    "input_tokens",
    "output_tokens",
    "upstream_status",
)
CALLS, _PANELS = Call._meta.db_table, Panel._meta.db_table
# Counted where it is written, so that no later ending can come before an earlier one.
ENDED_AS = f"(SELECT COUNT(*) + 1 FROM {CALLS} AS ended WHERE ended.panel_id = {CALLS}.panel_id AND ended.status <> %s)"  # noqa: S608


def end_calls(endings: Sequence[Ending]) -> int:
    """End those calls that run; returns how many did. The values of ENDING come in its order."""
    if not endings:
        return 0
    rows: list[Any] = []
    before: Counter[str] = Counter()
    for call_id, values in endings:
        panel_id, _, seat_name = call_id.rpartition(".")
        rows += [panel_id, seat_name, before[panel_id], *values.values()]
        before[panel_id] += 1
    with connection.cursor() as cursor:
        cursor.execute(_statement(len(endings), connection.vendor), [Call.Status.RUNNING, *rows, Call.Status.RUNNING])
        return int(cursor.rowcount)


# One for each number of calls that end together, as far as they are kept.
@lru_cache(maxsize=256)
def _statement(calls: int, _: str) -> str:
    """For a vendor's types of columns. Each row of values: the panel's id, the seat's name, how many of its panel end before
    it, and ENDING.

    Types are said because PostgreSQL takes them from the values, of which all may be unknown.
    """
    types = [Call._meta.get_field(name).db_type(connection) for name in ENDING]
    changes = [f"{name} = CAST(v.column{at} AS {of})" for at, (name, of) in enumerate(zip(ENDING, types, strict=True), start=4)]
    row = f"({', '.join(['%s'] * (3 + len(ENDING)))})"
    return (
        f"UPDATE {CALLS} SET {', '.join(changes)}, ended_as = {ENDED_AS} + v.column3 "  # noqa: S608 (names of ours)
        f"FROM (VALUES {', '.join([row] * calls)}) AS v JOIN {_PANELS} AS p ON p.panel_id = v.column1 "
        f"WHERE {CALLS}.panel_id = p.id AND {CALLS}.seat_name = v.column2 AND {CALLS}.status = %s"
    )
