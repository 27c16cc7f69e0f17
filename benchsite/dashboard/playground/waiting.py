"""Why a seat may not have been asked yet: a limit of its model that is used up this minute, and until when.

Whether it waits is known to its own thread alone; that it may is read off the counts.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from collections_app.models import LanguageModel
from collections_app.services.quotas import Forecast, forecasts
from evidence.models import Call

_UNITS = {"requests_per_minute": "requests a minute", "tokens_per_minute": "tokens a minute"}


def may_wait(calls: Iterable[Call], now: datetime) -> dict[str, str]:
    """What to say of running calls whose limits are used up, by seat name: four queries, none where nothing runs."""
    asked = (call for call in calls if call.status == Call.Status.RUNNING)
    running = {call.language_model_id: call.seat_name for call in asked if call.language_model_id is not None}
    if not running:
        return {}
    models = list(LanguageModel.objects.filter(pk__in=running).select_related("endpoint"))
    told = {running[pk]: next(_told(found, now), "") for pk, found in forecasts(models, now).items()}
    return {seat_name: words for seat_name, words in told.items() if words}


def _told(limits: Iterable[Forecast], now: datetime) -> Iterator[str]:
    for limit in limits:
        if limit.field in _UNITS and not limit.left and limit.resets_at and limit.resets_at > now:
            until = f"{limit.resets_at:%H:%M:%S} UTC"
            yield f"its limit of {limit.limit:,} {_UNITS[limit.field]} is used up: it may wait until {until}"
