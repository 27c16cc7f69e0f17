"""The tallies: what calls came to, by model, day, shape, collection and kind of seat, kept beside the log as it is written.

Called within the transactions that change what is counted, so that whoever reads both sees them agree. Ranks nobody.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Sum

from evidence.models import Call, Panel, Tally, Verdict

# Statements of our own, prepared once: a seat's end is on the hot path, and the ORM would build each anew for every batch.
# What tells one tally from another, and how a call says it.
KEY = {
    "day": "date(c.asked_at)",
    "alias": "c.alias",
    "endpoint_name": "c.endpoint_name",
    "served_id": "c.served_id",
    "shape": "c.shape",
    "collection_name": "p.collection_name",
    "seat": "CASE WHEN c.seat_name = 'merger' THEN 'merger' WHEN substr(c.seat_name, 1, 8) = 'explorer' THEN 'explorer' "
    "ELSE 'member' END",
}
COUNTS = {
    "asked": "COUNT(*)",
    "answered": "SUM(CASE WHEN c.status = 'ok' THEN 1 ELSE 0 END)",
    "empty": "SUM(CASE WHEN c.status = 'empty' THEN 1 ELSE 0 END)",
    "failed": "SUM(CASE WHEN c.status = 'error' THEN 1 ELSE 0 END)",
    "seconds": "SUM(CASE WHEN c.status = 'ok' THEN COALESCE(c.seconds, 0) ELSE 0 END)",
    "owed": "SUM(CASE WHEN c.status = 'ok' AND v.id IS NULL THEN 1 ELSE 0 END)",
    "useful": "SUM(CASE WHEN v.useful THEN 1 ELSE 0 END)",
    "not_useful": "SUM(CASE WHEN NOT v.useful THEN 1 ELSE 0 END)",
    "claims_real": 'SUM(COALESCE({length}(v."real"), 0))',
    "claims_false": 'SUM(COALESCE({length}(v."false"), 0))',
    "unique_finds": "SUM(COALESCE(v.unique_finds, 0))",
}
ENDED = "c.status <> 'running'"
# SQLite takes so many values in one statement, and more.
AT_ONCE = 500


class Calls:
    """Some calls of the log that have ended, by what they are picked by."""

    def __init__(self, condition: str, values: Sequence[Any]) -> None:
        self.condition, self.values = condition, tuple(values)

    @classmethod
    def named(cls, call_ids: Sequence[str]) -> "Calls":
        """At most AT_ONCE of them."""
        panels = sorted({call_id.rpartition(".")[0] for call_id in call_ids})
        condition = f"p.panel_id IN ({_places(panels)}) AND p.panel_id || '.' || c.seat_name IN ({_places(call_ids)})"
        return cls(condition, (*panels, *call_ids))

    @classmethod
    def with_keys(cls, keys: Sequence[int]) -> "Calls":
        """At most AT_ONCE of them, by primary key."""
        return cls(f"c.id IN ({_places(keys)})", keys)

    @classmethod
    def of_panels(cls, keys: Sequence[int]) -> "Calls":
        """All of some panels', by primary key; at most AT_ONCE panels."""
        return cls(f"c.panel_id IN ({_places(keys)})", keys)

    @classmethod
    def of_the_log(cls) -> "Calls":
        return cls("1 = 1", ())


def count(calls: Calls) -> None:
    """Add calls that have ended to the tallies of the log."""
    _add(calls, 1, in_log=True)


def uncount(calls: Calls) -> None:
    """Take them off again, as they stand: before what is counted of them changes, or they go."""
    _add(calls, -1, in_log=True)


def keep(calls: Calls) -> None:
    """Add calls that are about to leave the log to the tallies of what it has forgotten."""
    _add(calls, 1, in_log=False)


def counted(calls: Calls) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What calls come to, by KEY: the counts in the order of COUNTS. Reads every one of them."""
    with connection.cursor() as cursor:
        cursor.execute(f"{_select(1, in_log=True)} WHERE {ENDED} AND {calls.condition} {_grouped()}", calls.values)
        rows = cursor.fetchall()
    end = len(KEY) + len(COUNTS)
    return {(str(row[0]), *row[1 : len(KEY)]): row[len(KEY) : end] for row in rows}


@transaction.atomic
def differing() -> list[tuple[str, str, str]]:
    """The alias, shape and day of every tally of the log that is not what the log says, or that is missing."""
    expected = counted(Calls.of_the_log())
    rows = Tally.objects.filter(in_log=True, asked__gt=0).order_by().values_list(*KEY, *COUNTS)
    found = {(str(row[0]), *row[1 : len(KEY)]): row[len(KEY) :] for row in rows.iterator()}
    wrong = [key for key in found.keys() | expected.keys() if not _alike(found.get(key), expected.get(key))]
    return sorted((alias, shape, day) for day, alias, _, _, shape, *_ in wrong)


def size() -> tuple[int, int]:
    """How many tallies of the log there are, and of how many calls."""
    told = Tally.objects.filter(in_log=True).aggregate(tallies=Count("pk"), calls=Sum("asked"))
    return told["tallies"], told["calls"] or 0


def _alike(one: Sequence[float] | None, other: Sequence[float] | None) -> bool:
    """Seconds are added up in another order here and there."""
    if one is None or other is None:
        return one is other
    return all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-3) for a, b in zip(one, other, strict=True))


@transaction.atomic
def make_again() -> None:
    """Make the log's tallies anew from it. Holds other writers up for a second for each 200,000 calls."""
    Tally.objects.filter(in_log=True).delete()
    count(Calls.of_the_log())


def _add(calls: Calls, sign: int, *, in_log: bool) -> None:
    if calls.values or calls.condition == "1 = 1":
        with connection.cursor() as cursor:
            cursor.execute(_statement(sign, in_log, calls.condition), calls.values)


# As many as there are sizes of batches, about: a text made anew took longer than what it says.
@lru_cache(maxsize=200)
def _statement(sign: int, in_log: bool, condition: str) -> str:
    return f"{_insert(sign, in_log)} WHERE {ENDED} AND {condition} {_grouped()} {_merged()}"


def _insert(sign: int, in_log: bool) -> str:
    names = ", ".join((*KEY, *COUNTS, "language_model_id", "last_asked", "in_log"))
    return f"INSERT INTO {Tally._meta.db_table} ({names}) {_select(sign, in_log=in_log)}"


def _select(sign: int, *, in_log: bool) -> str:
    length = "jsonb_array_length" if connection.vendor == "postgresql" else "json_array_length"
    counts = [sql.format(length=length) if in_log or name != "owed" else "0" for name, sql in COUNTS.items()]
    signed = [f"{'-' if sign < 0 else ''}({sql})" for sql in counts]
    # Not FALSE, which SQLite takes for the verdict's column of that name.
    held = "(1 = 1)" if in_log else "(1 = 0)"
    columns = ", ".join((*KEY.values(), *signed, "MAX(c.language_model_id)", "MAX(c.asked_at)", held))
    return (
        f"SELECT {columns} FROM {Call._meta.db_table} c JOIN {Panel._meta.db_table} p ON p.id = c.panel_id "  # noqa: S608
        f"LEFT JOIN {Verdict._meta.db_table} v ON v.call_id = c.id AND v.replaced_at IS NULL"
    )


def _grouped() -> str:
    """In the key's order, so that two writers at once take the rows they share in the same order."""
    places = ", ".join(str(number) for number in range(1, len(KEY) + 1))
    return f"GROUP BY {places} ORDER BY {places}"


def _merged() -> str:
    tally = Tally._meta.db_table
    sums = [f"{name} = {tally}.{name} + excluded.{name}" for name in COUNTS]
    # A model that was deleted and made again under its alias is another row for the same evidence.
    model = f"language_model_id = COALESCE(excluded.language_model_id, {tally}.language_model_id)"
    later = f"CASE WHEN excluded.last_asked > {tally}.last_asked THEN excluded.last_asked ELSE {tally}.last_asked END"
    changes = ", ".join((*sums, model, f"last_asked = {later}"))
    return f"ON CONFLICT ({', '.join(KEY)}, in_log) DO UPDATE SET {changes}"


def _places(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))
