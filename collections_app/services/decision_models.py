"""Decision models' rows: what a probe found, and what follows when a pick fails.

Asks nobody: the questions of a probe are the gateway's, which this app knows by the name that the settings have for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from collections_app.models import CoolDown, DecisionModel

# Seconds for which nobody is asked after a failure that tells no wait of its own. A rate limit's as for any model; the
# others are short, and yet spare the next panels the whole time that a hung endpoint takes.
RATE_LIMITED = 30 * 60
WAITS = {"rate_limited": RATE_LIMITED, "payment_required": RATE_LIMITED, "overloaded": 60, "timeout": 60, "unavailable": 60}
LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a probe found: where the model answers, in which dialect, and which types of question.

    `error` says what did not answer; with no types, why there are none.
    """

    dialect: str
    url: str = ""
    types: tuple[str, ...] = ()
    error: str = ""


def note_failure(model: DecisionModel, kind: str, said: str, wait: float | None = None) -> None:
    """Keep why a pick failed, and cool the model down where asking again at once would end the same. `wait` in seconds."""
    said = f"{kind.replace('_', ' ')}: {said}"[:LONGEST_ERROR]
    # No signal and no change to log: no panel's roster depends on it.
    DecisionModel.objects.filter(pk=model.pk).update(last_error=said)
    if kind in WAITS:
        now = timezone.now()
        until = now + timedelta(seconds=WAITS[kind] if wait is None else wait)
        values = {"until": until, "why": said, "since": now}
        CoolDown.objects.update_or_create(values, endpoint_id=model.endpoint_id, served_id=model.served_id)


def probe(model: DecisionModel) -> Found:
    """Find out where a model answers and keep it; where nothing answered, what an earlier probe found stays, beside why."""
    found = cast(Callable[[DecisionModel], Found], import_string(settings.BENCH_PROBE))(model)
    if found.types:
        model.dialect, model.url, model.question_types = found.dialect, found.url, list(found.types)
    model.last_error = found.error[:LONGEST_ERROR]
    model.probed_at = timezone.now()
    model.save()
    return found
