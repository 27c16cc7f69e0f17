"""What a bench file may say: its tables, their keys, and the kind of value each takes.

Data and the reading of it; looks at no row of the database.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model

from collections_app.models import Collection as BenchCollection
from collections_app.models import DecisionModel, Endpoint, LanguageModel, Limits, Shape
from collections_app.selectors import nearest
from collections_app.services.bench_file import Problems

BARE = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Kind:
    """A kind of value: how it is called, and what is one."""

    says: str
    holds: Callable[[Any], bool]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    # A whole number past any float would fail where it is made one.
    return (_is_whole(value) and abs(value) <= 2**53) or (isinstance(value, float) and math.isfinite(value))


TEXT = Kind("text", lambda value: isinstance(value, str))
WHOLE = Kind("a whole number", _is_whole)
NUMBER = Kind("a number", _is_number)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
TEXTS = Kind("a list of texts", lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value))
OBJECT = Kind("a table", lambda value: isinstance(value, dict))


@dataclass(frozen=True)
class Key:
    """One key of a row: the field it fills, its kind, and the table whose row it names, if it names one."""

    field: str
    kind: Kind = TEXT
    required: bool = False
    names: str = ""


@dataclass(frozen=True)
class Table:
    model: type[Model]
    name: str
    keys: Mapping[str, Key]


@dataclass
class Row:
    """One row as a file has it: what of it can be read, by key, and the keys that cannot."""

    path: str
    values: dict[str, Any]
    unreadable: set[str] = field(default_factory=set)


TIMEOUTS = {name: Key(name, NUMBER) for name in ("connect_timeout", "first_token_timeout", "seat_timeout")}

RATE_LIMITS = {
    name: Key(name, WHOLE) for name in ("requests_per_minute", "requests_per_day", "tokens_per_minute", "tokens_per_day")
}

# In the order in which rows can be written: each names only rows of tables before its own.
TABLES: Mapping[str, Table] = {
    "endpoints": Table(
        Endpoint,
        "name",
        {
            "protocol": Key("protocol"),
            "base_url": Key("base_url", required=True),
            "api_key_env": Key("api_key_env"),
            "provider": Key("provider"),
            **RATE_LIMITS,
            **TIMEOUTS,
        },
    ),
    "models": Table(
        LanguageModel,
        "alias",
        {
            "endpoint": Key("endpoint", required=True, names="endpoints"),
            "model": Key("served_id", required=True),
            "role": Key("role"),
            "status": Key("status"),
            "family": Key("family", TEXTS),
            "context_window": Key("context_window", WHOLE),
            "output_limit": Key("output_limit", WHOLE),
            "vision": Key("vision", FLAG),
            "tools": Key("tools", FLAG),
            "options": Key("options", OBJECT),
            **RATE_LIMITS,
            **TIMEOUTS,
        },
    ),
    "decision_models": Table(
        DecisionModel,
        "alias",
        {
            "endpoint": Key("endpoint", required=True, names="endpoints"),
            "model": Key("served_id", required=True),
            "status": Key("status"),
            "dialect": Key("dialect"),
            "url": Key("url"),
            "questions": Key("question_types", TEXTS),
        },
    ),
    "shapes": Table(
        Shape, "name", {"description": Key("description", required=True), "roles": Key("roles", TEXTS, required=True)}
    ),
    "collections": Table(
        BenchCollection,
        "name",
        {
            "members": Key("members", TEXTS, required=True, names="models"),
            "description": Key("description"),
            "tags": Key("tags", TEXTS),
            "shape": Key("shape", names="shapes"),
            "reply": Key("reply"),
            "merger": Key("merger", names="models"),
            "verdict_links": Key("verdict_links", FLAG),
        },
    ),
}
# The bench has one row of these: the table is the row.
LIMITS = Table(
    Limits,
    "",
    {
        "max_calls": Key("max_calls", WHOLE),
        "max_explorers": Key("max_explorers", WHOLE),
        "primary": Key("primary", names="models"),
    },
)


def read_rows(bench: Mapping[str, Any], problems: Problems) -> tuple[dict[str, dict[str, Row]], Row | None]:
    """Return every row by table and name, and that of limits; what cannot be read is added to `problems`."""
    known = [*TABLES, "limits"]
    for name in bench:
        if name not in known:
            problems.add(f"{quoted(name)}: unknown table{did_you_mean(name, known)}")
    rows: dict[str, dict[str, Row]] = {name: {} for name in TABLES}
    for table_name, table in TABLES.items():
        for name, values in _rows_of(bench, table_name, problems):
            rows[table_name][name] = _read_row(table, f"{table_name}.{quoted(name)}", values, problems)
    limits = bench.get("limits")
    return rows, None if limits is None else _read_row(LIMITS, "limits", limits, problems)


def quoted(name: str) -> str:
    """A name as it stands in a path: bare where TOML lets it be, cut where it is long."""
    return name if BARE.fullmatch(name) else json.dumps(name if len(name) <= 80 else name[:77] + "...")


def did_you_mean(word: str, known: Collection[str]) -> str:
    """The end of a message: what the word was probably meant to be, else what there is to choose from when that is short."""
    if close := nearest(word, known, most=1):
        return f"; did you mean {quote(close[0])}?"
    return f"; one of: {', '.join(known)}" if 0 < len(known) <= 12 else ""


def quote(text: str) -> str:
    """A person's text as it stands in a message: quoted, on one line, cut where it is long."""
    return json.dumps(text if len(text) <= 80 else text[:77] + "...")


def _rows_of(bench: Mapping[str, Any], table_name: str, problems: Problems) -> Iterator[tuple[str, Any]]:
    rows = bench.get(table_name, {})
    if isinstance(rows, dict):
        yield from rows.items()
    else:
        problems.add(f"{table_name}: a table of rows, such as [{table_name}.some-name]")


def _read_row(table: Table, path: str, values: Any, problems: Problems) -> Row:
    if not isinstance(values, dict):
        problems.add(f"{path}: a table of keys, such as {next(iter(table.keys))}")
        return Row(path, {}, set(table.keys))
    row = Row(path, {})
    for key, value in values.items():
        known = table.keys.get(key)
        if known is None:
            problems.add(f"{path}.{quoted(key)}: unknown key{did_you_mean(key, table.keys)}")
        elif value is None:
            continue  # JSON's null: as good as left out
        elif known.kind.holds(value):
            row.values[key] = value
        else:
            problems.add(f"{path}.{key}: {known.kind.says} is needed")
            row.unreadable.add(key)
    missing = {key for key, known in table.keys.items() if known.required} - row.values.keys() - row.unreadable
    for key in sorted(missing):
        problems.add(f"{path}: {quote(key)} is missing")
    row.unreadable |= missing
    return row
