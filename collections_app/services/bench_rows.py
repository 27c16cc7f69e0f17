"""Rows as a bench file has them: by table and name, each as its keys and values."""

from typing import Any

from collections_app.models import Collection
from collections_app.selectors import members_of
from collections_app.services.bench_tables import TABLES, Table

MEMBERS = "members"


def present_rows(table: Table) -> dict[str, Any]:
    """Return every row of a table by name, in the order of names, with the rows it names read along."""
    links = [key.field for key in table.keys.values() if key.names and key.field != MEMBERS]
    rows = table.model._default_manager.select_related(*links).order_by(table.name)
    if table.model is Collection:
        rows = rows.prefetch_related("memberships")
    return {getattr(row, table.name): row for row in rows}


def row_values(table: Table, instance: Any) -> dict[str, Any]:
    """Return a row's values by key; None where nothing is set."""
    return {name: _value(instance, key.field, key.names) for name, key in table.keys.items()}


def _value(instance: Any, field: str, names: str) -> Any:
    if field == MEMBERS:
        return [] if instance._state.adding else [model.alias for model in members_of(instance)]
    value = getattr(instance, field)
    return getattr(value, TABLES[names].name) if names and value is not None else value
