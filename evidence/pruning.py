"""Forgetting old panels: their texts go, and what they come to as evidence stays, by model and shape.

In batches, each one transaction that holds other writers up for a moment; asks nobody whether a panel is still wanted.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Exists, Max, Min, OuterRef

from evidence.counting.tallies import Calls, keep, uncount
from evidence.models import Call, Panel, PrunedPanel, Tally

# Panels of a batch, and the rest after it as a share of what it took. Whoever writes waits for SQLite's one lock, and looks for
# it ever more seldom, up to ten times a second: short batches far apart. Elsewhere only who wants a batch's own panels waits.
BATCH, REST = 25, 2.0
BATCH_ELSEWHERE, REST_ELSEWHERE = 100, 0.25


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
    batch, rest = (BATCH, REST) if connection.vendor == "sqlite" else (BATCH_ELSEWHERE, REST_ELSEWHERE)
    while True:
        started = time.monotonic()
        gone = _prune_batch(before, batch)
        if not gone.panels:
            return Pruned(panels, calls)
        panels, calls = panels + gone.panels, calls + gone.calls
        after_each()
        time.sleep((time.monotonic() - started) * rest)


@transaction.atomic
def _prune_batch(before: datetime, batch: int) -> Pruned:
    running = Call.objects.filter(panel=OuterRef("pk"), status=Call.Status.RUNNING)
    old = Panel.objects.filter(~Exists(running), asked_at__lt=before).order_by("asked_at")
    # Locked, where a database has such locks: who prunes at the same time counts none of them again.
    panels = list(old.select_for_update().values_list("pk", flat=True)[:batch])
    calls = Call.objects.filter(panel__in=panels)
    count = calls.count()
    days = calls.aggregate(first=Min("asked_at"), last=Max("asked_at"))
    gone = Calls.of_panels(panels)
    keep(gone)
    uncount(gone)
    if count:
        emptied = Tally.objects.filter(in_log=True, asked=0, day__range=(days["first"].date(), days["last"].date()))
        emptied.delete()
    brought = Panel.objects.filter(pk__in=panels, format=Panel.BROUGHT_OVER).values_list("panel_id", flat=True)
    PrunedPanel.objects.bulk_create([PrunedPanel(panel_id=panel_id) for panel_id in brought], ignore_conflicts=True)
    # Without their texts, which may be megabytes each.
    Panel.objects.filter(pk__in=panels).only("pk").delete()
    return Pruned(len(panels), count)
