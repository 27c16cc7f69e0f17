"""How far panels are, without what was said in them: for whoever waits for the next thing to happen."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from evidence.models import Call, Panel

# SQLite takes so many values in one statement, and more.
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """How many calls of a panel have ended and how many run; `noted`: it has been written down that nobody merges it."""

    ended: int
    running: int
    noted: bool = False


def progress_of(panel_ids: Sequence[str]) -> dict[str, Progress]:
    """Return how far each of these panels is; none that the log does not have. A query for AT_ONCE of them."""
    found = {}
    for start in range(0, len(panel_ids), AT_ONCE):
        panels = Panel.objects.filter(panel_id__in=panel_ids[start : start + AT_ONCE]).order_by()
        running = Count("calls", filter=Q(calls__status=Call.Status.RUNNING))
        counted = panels.values_list("panel_id", "note").annotate(asked=Count("calls"), running=running)
        for panel_id, note, asked, still in counted:
            found[panel_id] = Progress(asked - still, still, bool(note))
    return found


def ended_among(call_ids: Sequence[str]) -> list[Call]:
    """Those of these calls that have ended, whole and with their panels."""
    panels = list({call_id.rpartition(".")[0] for call_id in call_ids})
    wanted, keys = set(call_ids), []
    for start in range(0, len(panels), AT_ONCE):
        ended = Call.objects.filter(panel__panel_id__in=panels[start : start + AT_ONCE]).exclude(status=Call.Status.RUNNING)
        # First which, then whole: of a panel's seats most have long been told of.
        named = ended.order_by().values_list("pk", "panel__panel_id", "seat_name")
        keys += [pk for pk, panel_id, seat_name in named if f"{panel_id}.{seat_name}" in wanted]
    return list(Call.objects.filter(pk__in=keys).select_related("panel").defer("panel__request")) if keys else []
