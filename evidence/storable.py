"""What providers and callers send, as the columns can hold it: one bad value must not lose a row, or a batch of rows.

Fits values to columns, and writes rows of them; whether they are true or allowed is decided elsewhere.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models

Row = Mapping[str, Any]

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
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
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
    return partial(_text, longest=None if field.choices else field.max_length)


def _text(value: Any, *, longest: int | None) -> Any:
    if not value or not isinstance(value, str):
        return value
    return clean_text(value)[:longest]


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


def insert(
    model: type[models.Model], rows: Sequence[Row], *, shared: Row = MappingProxyType({}), unless_taken: str = ""
) -> int | None:
    """Write new rows of the same columns, in the same order, in one statement; returns the key of one that comes alone.

    Columns by attribute; `shared` are those that every row has alike, and others get their defaults. `unless_taken` names a
    unique column: of a row whose value another has there, nothing is written, and there is no key.

    The ORM makes such a statement anew each time, from every field of every row: a third of what a panel took of the database's
    thread. Raises IntegrityError. Sends no signals, as bulk_create does not.
    """
    if not rows:
        return None
    database = connections[DEFAULT_DB_ALIAS]
    made = _made(model)
    alike = [made[name](value, database) if name in made else value for name, value in shared.items()]
    values: list[Any] = []
    for row in rows:
        values += alike
        values += [made[name](value, database) if name in made else value for name, value in row.items()]
    returns = len(rows) == 1 and database.features.can_return_columns_from_insert
    with database.cursor() as cursor:
        cursor.execute(_statement(model, (*shared, *rows[0]), len(rows), unless_taken, returns), values)
        if len(rows) > 1:
            return None
        if returns:
            written = cursor.fetchone()
            return int(written[0]) if written else None
        return int(cursor.lastrowid) if cursor.rowcount else None


@cache
def _made(model: type[models.Model]) -> Mapping[str, Callable[[Any, Any], Any]]:
    """What makes a database's value of one that is no text or number, by attribute."""
    made = (models.DateTimeField, models.JSONField)
    return {field.attname: field.get_db_prep_save for field in model._meta.concrete_fields if isinstance(field, made)}


# A default is a word of the statement: as a value beside it, it would have to be handed over for every row.
@lru_cache(maxsize=64)
def _statement(model: type[models.Model], given: Sequence[str], rows: int, unless_taken: str, returning: bool) -> str:
    columns = {field.attname: field.column for field in model._meta.concrete_fields}
    others = [field for field in model._meta.concrete_fields if not field.primary_key and field.attname not in given]
    named = ", ".join(f'"{column}"' for column in [*(columns[name] for name in given), *(field.column for field in others)])
    places = ", ".join([*(["%s"] * len(given)), *(_literal(field.get_default()) for field in others)])
    unless = f" ON CONFLICT ({unless_taken}) DO NOTHING" if unless_taken else ""
    key = " RETURNING id" if returning else ""
    return f"INSERT INTO {model._meta.db_table} ({named}) VALUES {', '.join([f'({places})'] * rows)}{unless}{key}"  # noqa: S608 (names of ours)


def _literal(default: Any) -> str:
    """Raises TypeError for a default that is more than a plain value: such a column has to be given."""
    if default is None:
        return "NULL"
    if isinstance(default, str):
        return "'{}'".format(default.replace("'", "''").replace("%", "%%"))
    if isinstance(default, bool | int):
        return str(default).upper()
    raise TypeError(f"a column's default of {default!r} is none that can be said in a statement")
