"""What providers and callers send, as the columns can hold it: one bad value must not lose a row, or a batch of rows.

Fits values to columns, and writes rows of them; whether they are true or allowed is decided elsewhere.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any

from django.db import connection, models

_LARGEST = {
    "PositiveSmallIntegerField": 2**15 - 1,
    "PositiveIntegerField": 2**31 - 1,
    "PositiveBigIntegerField": 2**63 - 1,
}


def storable(model: type[models.Model], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` by field name, fit for `model`'s columns: text clean and cut to length, counts in range or unknown."""
    fits = _fits(model)
    return {name: fits[name](value) for name, value in values.items()}


def clean_text(text: str) -> str:
    """PostgreSQL stores no NUL and no database a lone surrogate, and models send both."""
    text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Halves that came in two pieces of a stream become one character again.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# Looked up once: thirteen columns of every seat that ends pass through here.
@cache
def _fits(model: type[models.Model]) -> Mapping[str, Callable[[Any], Any]]:
    return {name: _fit_for(field) for field in model._meta.concrete_fields for name in (field.name, field.attname)}


def _fit_for(field: Any) -> Callable[[Any], Any]:
    if isinstance(field, models.JSONField):
        return clean_json
    largest = _LARGEST.get(field.get_internal_type())
    if largest is not None and field.null:
        return partial(_count, largest=largest)
    longest = None if field.choices else field.max_length
    return lambda value: clean_text(value)[:longest] if isinstance(value, str) else value


def _count(value: Any, *, largest: int) -> Any:
    return value if isinstance(value, int) and 0 <= value <= largest else None


def clean_json(value: Any) -> Any:
    """The same of every text in it, names too."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(name)): clean_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value


def insert(model: type[models.Model], rows: Sequence[Mapping[str, Any]], *, unless_taken: str = "") -> int | None:
    """Write new rows in one statement; returns the key of one that comes alone. Columns by attribute, defaults for the others.

    `unless_taken` names a unique column: of a row whose value another has there, nothing is written, and there is no key.

    The ORM makes such a statement anew each time, from every field of every row: a third of what a panel took of the database's
    thread. Raises IntegrityError. Sends no signals, as bulk_create does not.
    """
    if not rows:
        return None
    values = [
        (adapt(row[name], connection) if adapt else row[name]) if name in row else default
        for row in rows
        for name, adapt, default in _columns(model, connection.vendor)
    ]
    returns = len(rows) == 1 and connection.features.can_return_columns_from_insert
    with connection.cursor() as cursor:
        cursor.execute(_statement(model, len(rows), unless_taken, returns), values)
        if len(rows) > 1:
            return None
        if returns:
            written = cursor.fetchone()
            return int(written[0]) if written else None
        return int(cursor.lastrowid) if cursor.rowcount else None


# What is no text or number, of which a database's value is made.
_MADE = (models.DateTimeField, models.JSONField)
_Adapt = Callable[[Any, Any], Any]


@cache
def _columns(model: type[models.Model], vendor: str) -> Sequence[tuple[str, _Adapt | None, Any]]:
    """Every column but the key's: its attribute, what makes a database's value of one, and its default as such.

    Defaults are made once: none may be a moment, or anything else that differs from row to row.
    """
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    return [
        (
            field.attname,
            field.get_db_prep_save if isinstance(field, _MADE) else None,
            field.get_db_prep_save(field.get_default(), connection),
        )
        for field in fields
    ]


@lru_cache(maxsize=64)
def _statement(model: type[models.Model], rows: int, unless_taken: str, returning: bool) -> str:
    columns = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    places = f"({', '.join(['%s'] * len(columns))})"
    named = ", ".join(f'"{column}"' for column in columns)
    unless = f" ON CONFLICT ({unless_taken}) DO NOTHING" if unless_taken else ""
    key = " RETURNING id" if returning else ""
    return f"INSERT INTO {model._meta.db_table} ({named}) VALUES {', '.join([places] * rows)}{unless}{key}"  # noqa: S608 (names of ours)
