"""The bench from a file: rows made or changed to what the file says of them, all or nothing.

A row that the file names becomes what the file says, keys left out at their defaults; rows it does not name stay as they are.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from auditlog.context import set_extra_data
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Field, Model

from collections_app.models import Endpoint, LanguageModel
from collections_app.models.language_model import DECIDES
from collections_app.models.options import check_options
from collections_app.selectors import current_limits
from collections_app.services.bench_file import BenchFileError, Problems
from collections_app.services.bench_rows import MEMBERS, present_rows, row_values
from collections_app.services.bench_tables import LIMITS, OBJECT, TABLES, Row, Table, did_you_mean, quote, quoted, read_rows
from collections_app.services.members import set_members
from collections_app.services.provider_keys import drop_key_of_another_host

# Rows by table and name: those of the database, and those of the file once they are drafted.
Roster = dict[str, dict[str, Any]]


@dataclass
class Draft:
    """One row as it will be, beside what it was; `before` is None for a new one."""

    table: Table
    instance: Any
    before: dict[str, Any] | None
    members: list[LanguageModel] | None = None


def load_bench(bench: Mapping[str, Any], *, dry_run: bool = False, by: str = "load_bench") -> list[str]:
    """Make the roster what `bench` says; returns what changed (with `dry_run`: would change), a line each.

    Loading the same again changes nothing. Raises BenchFileError with every problem; then nothing has changed.
    """
    problems = Problems()
    rows, limits = read_rows(bench, problems)
    with transaction.atomic(), set_extra_data({"additional_data": {"by": by}}):
        drafts = _draft_all(rows, limits, problems)
        if problems.found:
            raise BenchFileError(problems.found)
        changes = [line for draft in drafts for line in _apply(draft)]
        transaction.set_rollback(dry_run)
    return changes


def _draft_all(rows: dict[str, dict[str, Row]], limits: Row | None, problems: Problems) -> list[Draft]:
    roster: Roster = {}
    drafts = []
    for table_name, table in TABLES.items():
        roster[table_name] = present_rows(table)
        for name, row in rows[table_name].items():
            instance = roster[table_name].get(name) or table.model(**{table.name: name})
            drafts.append(_draft(table, row, instance, roster, problems))
            roster[table_name][name] = instance
    if limits is not None:
        drafts.append(_draft(LIMITS, limits, current_limits(), roster, problems))
    for problem in _seats_that_decide(roster):
        problems.add(problem)
    return drafts


def _seats_that_decide(roster: Roster) -> Iterator[str]:
    """The models that would sit though they answer typed questions, as rows and file together have it."""
    decides = {_served(row): alias for alias, row in roster["decision_models"].items()}
    for alias, model in roster["models"].items():
        if model.status != LanguageModel.Status.RETIRED and (decider := decides.get(_served(model))):
            yield f"models.{quoted(alias)}.model: {DECIDES.format(decider)}"


def _served(row: Any) -> tuple[str, str]:
    """What a row names at which endpoint; an endpoint that the file does not have is a problem of its own."""
    endpoint = row._state.fields_cache.get("endpoint")
    return endpoint.name if endpoint else "", row.served_id


def _draft(table: Table, row: Row, instance: Any, roster: Roster, problems: Problems) -> Draft:
    draft = Draft(table, instance, None if instance._state.adding else row_values(table, instance))
    for key_name, key in table.keys.items():
        if key_name in row.unreadable:
            continue
        if key.field == MEMBERS:
            draft.members = _members(row, row.values[key_name], roster, problems)
        else:
            _fill(draft, row, key_name, roster, problems)
    for problem in _invalid(table, instance, row):
        problems.add(problem)
    return draft


def _fill(draft: Draft, row: Row, key_name: str, roster: Roster, problems: Problems) -> None:
    key = draft.table.keys[key_name]
    column = cast("Field[Any, Any]", draft.table.model._meta.get_field(key.field))
    value = row.values.get(key_name, column.get_default())
    problem = None
    if key.names:
        value = roster[key.names].get(name := value or "")
        problem = _no_such(key.names, name, roster) if value is None and (name or key.required) else None
    elif column.choices and value not in (choices := [choice for choice, _ in column.flatchoices]):
        problem = f"no {key_name} {quote(str(value))}{did_you_mean(str(value), list(map(str, choices)))}"
    elif key.kind is OBJECT:
        problem = _bad_options(value)
    if problem:
        problems.add(f"{row.path}.{key_name}: {problem}")
        row.unreadable.add(key_name)
    else:
        setattr(draft.instance, key.field, value)


def _members(row: Row, aliases: list[str], roster: Roster, problems: Problems) -> list[LanguageModel]:
    if not aliases:
        problems.add(f"{row.path}.members: at least one, or nobody could be asked")
    for alias, times in Counter(aliases).items():
        if alias not in roster["models"]:
            problems.add(f"{row.path}.members: {_no_such('models', alias, roster)}")
        elif times > 1:
            problems.add(f"{row.path}.members: {quote(alias)} is named {times} times; a member sits once")
    return [roster["models"][alias] for alias in aliases if alias in roster["models"]]


def _no_such(table_name: str, name: str, roster: Roster) -> str:
    return f"no {TABLES[table_name].model._meta.verbose_name} {quote(name)}{did_you_mean(name, roster[table_name])}"


def _bad_options(options: Any) -> str | None:
    # Before Django's own check, which would turn a date into a vaguer message and a deep nest into a crash.
    try:
        check_options(options)
    except ValidationError as error:
        return " ".join(error.messages)
    return None


def _invalid(table: Table, instance: Model, row: Row) -> Iterator[str]:
    """What is wrong with the values of one row, each as `models.gpt-oss.role: why`."""
    readable = {key.field: name for name, key in table.keys.items() if not key.names and name not in row.unreadable}
    checked = readable.keys() | {table.name}
    try:
        instance.clean_fields(exclude={column.name for column in instance._meta.fields} - checked)
        instance.clean()
    except ValidationError as error:
        for field_name, messages in error.message_dict.items():
            key_name = readable.get(field_name)
            yield f"{row.path}{'.' + key_name if key_name else ''}: {' '.join(messages)}"


def _apply(draft: Draft) -> Iterator[str]:
    """Write one row if it changed; yields the line that says so."""
    after = row_values(draft.table, draft.instance)
    if draft.members is not None:
        after[MEMBERS] = [model.alias for model in draft.members]
    changed = [name for name in after if draft.before is None or draft.before[name] != after[name]]
    if not changed and draft.before is not None:
        return
    if draft.before is None or changed != [MEMBERS]:
        draft.instance.save()
    if draft.members is not None:
        set_members(draft.instance, draft.members)
    what = str(draft.instance._meta.verbose_name)
    named = f"{what} {getattr(draft.instance, draft.table.name)}" if draft.table.name else "limits"
    if draft.before is None:
        yield f"created {named}"
    else:
        sums = ", ".join(f"{name} {_shown(draft.before[name])} -> {_shown(after[name])}" for name in changed)
        yield f"changed {named}: {sums}"
    yield from _keys_dropped(draft.instance)


def _keys_dropped(instance: Model) -> Iterator[str]:
    if isinstance(instance, Endpoint) and (host := drop_key_of_another_host(instance)):
        yield f"dropped the key of endpoint {instance.name}: it was typed for {host}"


def _shown(value: Any) -> str:
    return "unset" if value in (None, "", [], {}) else json.dumps(value, ensure_ascii=False)
