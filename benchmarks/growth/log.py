"""A call log of any length on the bench that is loaded: a short one, and copies of it over the time that follows.

Rows are copied by the database itself: written one by one a million calls take ten minutes.
"""

import random
from datetime import datetime, timedelta
from typing import Any

from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks.pages.rows import call_of, panel_of, write
from collections_app.models import Collection, LanguageModel
from evidence.counting.tallies import make_again
from evidence.models import Call, Panel, Verdict
from evidence.selectors import staleness

ROWS = (Panel, Call, Verdict)

DAYS, BASE_CALLS, SEATS, AT_ONCE = 400, 1_000, 5, 25
SHAPES = ("general", "general", "code", "hard")


def make(calls: int) -> None:
    """Write so many calls, the newest now and the oldest DAYS ago, spread evenly."""
    base, copies = min(calls, BASE_CALLS), max(1, calls // BASE_CALLS)
    _write_base(base, timezone.now() - timedelta(days=DAYS), timedelta(days=DAYS) / copies)
    spans = {row: 1 + (row.objects.aggregate(last=models.Max("pk"))["last"] or 0) for row in ROWS}
    apart = int(timedelta(days=DAYS).total_seconds()) // copies
    for first in range(1, copies, AT_ONCE):
        with transaction.atomic(), connection.cursor() as cursor:
            for row in ROWS:
                cursor.execute(_copies(row, spans, apart), [first, min(first + AT_ONCE, copies) - 1])
    make_again()
    _tidy()


def plan() -> str:
    """How the database finds who has gone longest without being asked, and how often two of one moment were: its words."""
    models = list(LanguageModel.objects.filter(status="active").values_list("pk", flat=True))
    explain = (
        "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
    )
    with CaptureQueriesContext(connection) as queries:
        staleness("general", models).calls(models[:2])
    steps = []
    for query in queries:
        with connection.cursor() as cursor:
            cursor.execute(explain + query["sql"])
            steps += [str(step[-1]) for step in cursor.fetchall()]
    return "\n".join(step for step in steps if "Filter: (id = ANY" not in step)


def _write_base(calls: int, since: datetime, over: timedelta) -> None:
    """The oldest part of the log: panels of the bench's own models on several kinds of work."""
    chance = random.Random(1)
    collection = Collection.objects.get(name="explore")
    members = [seat.language_model for seat in collection.memberships.all()]
    explorers = list(LanguageModel.objects.filter(status="active").select_related("endpoint"))
    batch = []
    for number in range(panels := calls // SEATS):
        panel = panel_of(number, collection, "all", since + over * number / panels)
        panel.shape = SHAPES[number % len(SHAPES)]
        seats = [(f"member{place}", model) for place, model in enumerate(members, 1)]
        seats += [(f"explorer{place}", model) for place, model in enumerate(chance.sample(explorers, 2), 1)]
        batch.append((panel, [call_of(panel, name, model, chance) for name, model in seats]))
    write(batch, chance)


def _copies(row: type[models.Model], spans: dict[Any, int], apart: int) -> str:
    """The statement that adds copies number %s to %s of every row of the base: by column, whatever columns there are."""
    table, columns = row._meta.db_table, row._meta.concrete_fields
    made = ", ".join(_copied(column, spans, apart) for column in columns)
    names = ", ".join(f'"{column.column}"' for column in columns)
    return (
        "WITH RECURSIVE n(i) AS (SELECT %s UNION ALL SELECT i + 1 FROM n WHERE i < %s) "
        f"INSERT INTO {table} ({names}) SELECT {made} FROM {table} base, n WHERE base.id < {spans[row]}"
    )


def _copied(column: Any, spans: dict[Any, int], apart: int) -> str:
    value = f'base."{column.column}"'
    if column.primary_key:
        return f"{value} + n.i * {spans[column.model]}"
    if column.is_relation and column.related_model in spans:
        return f"{value} + n.i * {spans[column.related_model]}"
    if column.name == "panel_id":
        return f"'g' || (base.id + n.i * {spans[column.model]})"
    if isinstance(column, models.DateTimeField):
        return _later(value, apart)
    return value


def _later(value: str, apart: int) -> str:
    if connection.vendor == "postgresql":
        return f"{value} + n.i * interval '{apart} seconds'"
    return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', {value}, (n.i * {apart}) || ' seconds') || '000'"


def _tidy() -> None:
    """As a database is that has grown: PostgreSQL looks after its tables meanwhile, and counts keys on."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), ROWS):
            cursor.execute(statement)
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM ANALYZE")
