"""All that is known, row by row: records of models by shape, and calls with their verdicts. Holds a part of it at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db.models import FilteredRelation, Q
from django.utils import timezone

from evidence.models import Call, Tally
from evidence.selectors.standing import Record, Wanted, records, timed

PART = 500
CALL_FIELDS = {
    "panel": "panel__panel_id",
    "seat": "seat_name",
    "asked_at": "asked_at",
    "asked_by": "panel__asked_by",
    "format": "panel__format",
    "collection": "panel__collection_name",
    "shape": "shape",
    "nominated": "nominated",
    "alias": "alias",
    "endpoint": "endpoint_name",
    "model_id": "served_id",
    "served_model": "served_model",
    "status": "status",
    "error_kind": "error_kind",
    "seconds": "seconds",
    "first_token_seconds": "first_token_seconds",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "upstream_status": "upstream_status",
    "useful": "counting__useful",
    "score": "counting__score",
    "claims_real": "counting__real",
    "claims_false": "counting__false",
    "unique_finds": "counting__unique_finds",
    "note": "counting__note",
    "correction": "counting__correction",
    "judged_by": "counting__given_by",
    "judged_at": "counting__given_at",
}
CALL_HEADER = ("call", *CALL_FIELDS)


def records_by_shape(days: int) -> Iterator[tuple[Record, bool]]:
    """Every model's record on every shape, and whether it is of merging, the best of each shape first."""
    shapes = Tally.objects.order_by("shape").values_list("shape", flat=True).distinct()
    for shape in list(shapes):
        for seat in ("", Tally.Seat.MERGER):
            wanted = Wanted(shape=shape, days=days, seat=seat)
            found = records(wanted)
            for start in range(0, len(found), PART):
                part = timed(found[start : start + PART], wanted)
                yield from ((replace(record, shape=shape), bool(seat)) for record in part)


def calls_with_verdicts(days: int) -> Iterator[Sequence[Any]]:
    """Every call in the order in which they were asked, by CALL_HEADER."""
    calls = Call.objects.annotate(counting=FilteredRelation("verdicts", condition=Q(verdicts__replaced_at=None))).order_by("pk")
    if days:
        calls = calls.filter(panel__asked_at__gte=timezone.now() - timedelta(days=days))
    rows = calls.values_list(*CALL_FIELDS.values()).iterator(chunk_size=PART)
    yield from ((f"{panel}.{seat}", panel, seat, *others) for panel, seat, *others in rows)
