"""Turns at a panel: of all that end calls of one panel at once, one transaction at a time does.

SQLite's transactions take turns as it is. Elsewhere two would give the same number to two endings of a panel, each blind to
the other's; and two that ended many calls of several panels in another order would wait for each other.
"""

from collections.abc import Iterable

from django.db import connection

from evidence.models import Panel


def hold_panels(panel_ids: Iterable[str]) -> None:
    """Hold panels until the transaction ends, always in the order of their keys; waits for whoever holds one of them.

    Rows that refer to them, and whoever reads them, do not wait. Nothing else is locked before: panels, then their calls,
    then tallies is the order everywhere.
    """
    if connection.features.has_select_for_update:
        panels = Panel.objects.filter(panel_id__in=set(panel_ids)).order_by("pk").select_for_update(no_key=True)
        list(panels.values_list("pk"))
