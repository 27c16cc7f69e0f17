"""What to say beside the seats of a running panel: who may wait for a limit, and what becomes of the merge.

Whether a seat waits is known to its own thread alone; that it may is read off the counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from collections_app.models import LanguageModel
from collections_app.services.quotas import Forecast, forecasts
from evidence.models import Call, Panel

_UNITS = {"requests_per_minute": "requests a minute", "tokens_per_minute": "tokens a minute"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """`waits`: a sentence for each seat that may wait. `merging`: what the merge waits for, for so many `seconds`."""

    waits: Sequence[str]
    merging: str = ""
    seconds: float = 0.0


def beside(panel: Panel, now: datetime, *, blind: bool) -> Beside:
    """Say it of a panel that was read with its calls: four queries, none where nothing runs."""
    calls = list(panel.calls.all())
    running = {
        call.language_model_id: "One of these seats" if blind else call.alias
        for call in calls
        if call.status == Call.Status.RUNNING and call.language_model_id is not None
    }
    waits = [f"{name} may wait: {why}." for name, why in _used_up(running, now)] if running else []
    merging = _merging(panel, calls)
    return Beside(waits=waits, merging=merging, seconds=max(0.0, (now - panel.asked_at).total_seconds()))


def _merging(panel: Panel, calls: Sequence[Call]) -> str:
    """What becomes of a merge that was asked for, until there is a seat for it, or a note that says why there is none."""
    if panel.reply != "merged" or panel.note or any(call.seat_name == Call.MERGER for call in calls):
        return ""
    waiting = any(call.status == Call.Status.RUNNING for call in calls)
    return "The merge waits for every seat" if waiting else "Somebody is chosen to merge"


def _used_up(names: dict[int, str], now: datetime) -> Iterator[tuple[str, str]]:
    models = list(LanguageModel.objects.filter(pk__in=names).select_related("endpoint"))
    for pk, limits in forecasts(models, now).items():
        for limit in limits:
            if limit.field in _UNITS and not limit.left and limit.resets_at and limit.resets_at > now:
                yield names[pk], _told(limit, limit.resets_at)
                break


def _told(limit: Forecast, resets_at: datetime) -> str:
    return f"the limit of {limit.limit:,} {_UNITS[limit.field]} is used up until {resets_at:%H:%M:%S} UTC"
