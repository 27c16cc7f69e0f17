"""A source's rows: what it lists now against what it listed before, written at once.

Judges nothing: what a price that rose or an id that went means is transitions.py's to say.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from django.db.models import QuerySet

from collections_app.catalog.entry import Entry
from collections_app.catalog.same import same
from collections_app.models import CatalogEntry

COLUMNS = tuple(column.name for column in fields(Entry))
WRITTEN = (*(name for name in COLUMNS if name not in ("served_id", "provider")), "same", "gone_at")
ROWS_AT_ONCE = 500
# What a source stopped listing so long ago is no news to anybody.
GONE_KEPT = timedelta(days=180)


@dataclass(frozen=True, slots=True)
class Difference:
    """New, gone and returned entries, and pairs of before and after."""

    new: Sequence[Entry] = ()
    changed: Sequence[tuple[Entry, Entry]] = ()
    gone: Sequence[Entry] = ()
    back: Sequence[tuple[Entry, Entry]] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone or self.back)


@dataclass(frozen=True, slots=True)
class _Held:
    pk: int
    entry: Entry
    gone: bool


def write_entries(source: str, entries: Iterable[Entry], *, now: datetime) -> Difference:
    """Make `entries` what `source` lists, in the transaction around; returns what that changes.

    The same again writes nothing.
    """
    listed = {(entry.provider, entry.served_id): entry for entry in entries}
    held = {(row.entry.provider, row.entry.served_id): row for row in _held(source)}
    pairs = [(held[key], entry) for key, entry in listed.items() if key in held]
    difference = Difference(
        new=[entry for key, entry in listed.items() if key not in held],
        changed=[(row.entry, entry) for row, entry in pairs if not row.gone and row.entry != entry],
        gone=[row.entry for key, row in held.items() if key not in listed and not row.gone],
        back=[(row.entry, entry) for row, entry in pairs if row.gone],
    )
    _write(source, [*difference.new, *(entry for _, entry in (*difference.changed, *difference.back))], now)
    _mark_gone([row.pk for key, row in held.items() if key not in listed and not row.gone], now)
    if difference:
        _of(source).filter(gone_at__lt=now - GONE_KEPT).delete()
    return difference


def _of(source: str) -> QuerySet[CatalogEntry]:
    return CatalogEntry.objects.filter(source=source)


def _held(source: str) -> Iterable[_Held]:
    for pk, gone_at, *values in _of(source).values_list("pk", "gone_at", *COLUMNS).iterator():
        yield _Held(pk, Entry(**dict(zip(COLUMNS, values, strict=True))), gone_at is not None)


def _write(source: str, entries: Sequence[Entry], now: datetime) -> None:
    rows = (
        CatalogEntry(
            source=source,
            first_seen=now,
            same=same(entry.served_id),
            **{name: getattr(entry, name) for name in COLUMNS},
        )
        for entry in entries
    )
    # Not bulk_update: its CASE for every column of every row takes minutes where this takes a second.
    CatalogEntry.objects.bulk_create(
        rows,
        batch_size=ROWS_AT_ONCE,
        update_conflicts=True,
        unique_fields=["source", "provider", "served_id"],
        update_fields=WRITTEN,
    )


def _mark_gone(keys: Sequence[int], now: datetime) -> None:
    for start in range(0, len(keys), ROWS_AT_ONCE):
        CatalogEntry.objects.filter(pk__in=keys[start : start + ROWS_AT_ONCE]).update(gone_at=now)
