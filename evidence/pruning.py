"""Forgetting old panels: their texts go, and what they come to as evidence stays, by model and shape.

In batches, each one transaction that holds other writers up for a moment; asks nobody whether a panel is still wanted.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Case, Count, Exists, F, Max, OuterRef, Q, Value, When

from evidence.models import Call, Panel, Tally, Verdict

BATCH = 100
# Between two batches, as a share of what the last one took: whoever waits for SQLite's one lock gets it.
REST = 1.0
# What tells one tally from another, and how a call says it.
KEY = ("alias", "endpoint_name", "served_id", "shape", "merging")
JUDGED = ("useful", "not_useful", "claims_real", "claims_false")
MERGING = Case(When(seat_name="merger", then=Value(True)), default=Value(False))


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows are gone."""

    panels: int = 0
    calls: int = 0


def prune_panels(before: datetime, *, after_each: Callable[[], None] = lambda: None) -> Pruned:
    """Remove every panel asked before then, with its calls and verdicts; a panel with a running call stays.

    `after_each` is called between batches, and may raise to end it there: what is gone by then is counted.
    """
    panels = calls = 0
    while True:
        started = time.monotonic()
        gone = _prune_batch(before)
        if not gone.panels:
            return Pruned(panels, calls)
        panels, calls = panels + gone.panels, calls + gone.calls
        after_each()
        time.sleep((time.monotonic() - started) * REST)


@transaction.atomic
def _prune_batch(before: datetime) -> Pruned:
    running = Call.objects.filter(panel=OuterRef("pk"), status=Call.Status.RUNNING)
    old = Panel.objects.filter(~Exists(running), asked_at__lt=before).order_by("asked_at")
    # Locked, where a database has such locks: who prunes at the same time counts none of them again.
    panels = list(old.select_for_update().values_list("pk", flat=True)[:BATCH])
    calls = Call.objects.filter(panel__in=panels)
    count = calls.count()
    _keep(calls)
    Panel.objects.filter(pk__in=panels).delete()
    return Pruned(len(panels), count)


def _keep(calls: Any) -> None:
    """Add what these calls come to to the tallies of their models and shapes."""
    judged = _judged(calls)
    for group in _groups(calls):
        key = {name: group.pop(name) for name in KEY}
        counted = {**group, **judged[tuple(key.values())]}
        latest, model = counted.pop("last_asked"), counted.pop("model")
        tally, _ = Tally.objects.select_for_update().get_or_create(**key, defaults={"last_asked": latest})
        for name, more in counted.items():
            setattr(tally, name, getattr(tally, name) + more)
        tally.last_asked = max(tally.last_asked, latest)
        # A model that was deleted and made again under its alias is another row for the same evidence.
        tally.language_model_id = model or tally.language_model_id
        tally.save()


def _groups(calls: Any) -> Iterator[dict[str, Any]]:
    status = Call.Status
    rows = calls.order_by().annotate(merging=MERGING).values(*KEY)
    yield from rows.annotate(
        asked=Count("pk"),
        answered=Count("pk", filter=Q(status=status.OK)),
        empty=Count("pk", filter=Q(status=status.EMPTY)),
        failed=Count("pk", filter=Q(status=status.ERROR)),
        last_asked=Max("asked_at"),
        model=Max(F("language_model_id")),
    )


def _judged(calls: Any) -> dict[Sequence[Any], dict[str, int]]:
    """The verdicts that count, by tally: how many were useful or not, and their claims."""
    counted: dict[Sequence[Any], dict[str, int]] = defaultdict(lambda: dict.fromkeys(JUDGED, 0))
    verdicts = Verdict.objects.filter(call__in=calls, replaced_at=None).select_related("call")
    fields = [f"call__{name}" for name in (*KEY[:-1], "seat_name")]
    for verdict in verdicts.only("useful", "real", "false", *fields):
        call = verdict.call
        counts = counted[(call.alias, call.endpoint_name, call.served_id, call.shape, call.seat_name == "merger")]
        for name, more in zip(JUDGED, _counts(verdict), strict=True):
            counts[name] += more
    return counted


def _counts(verdict: Verdict) -> Iterable[int]:
    return int(verdict.useful), int(not verdict.useful), len(verdict.real), len(verdict.false)
