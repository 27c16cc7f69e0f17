"""Decision models' rows: what a probe found, and what follows from a pick.

Asks nobody: the questions of a probe are the gateway's, which this app knows by the name that the settings have for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from collections_app.models import DecisionModel
from collections_app.plain_text import tidy
from collections_app.services.cooling import rest
from collections_app.services.findings import Finding, apply_findings

# Failures that end the same for the next panel, which would wait its whole budget for it.
HUNG = frozenset({"timeout", "unavailable", "overloaded"})
A_MOMENT = timedelta(seconds=60)
LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What a probe found: where the model answers, in which dialect, and which types of question.

    `error` says what did not answer; with no types, why there are none.
    """

    dialect: str
    url: str = ""
    types: tuple[str, ...] = ()
    error: str = ""


def note_pick(model: DecisionModel, finding: Finding) -> None:
    """Act on how a pick went, as on any call; a failure is kept for its page, and a server that hangs rests for a moment."""
    if finding.kind:
        said = tidy(f"{finding.kind.replace('_', ' ')}: {finding.said}", LONGEST_ERROR)
        # No signal and no change to log: no panel's roster depends on it.
        DecisionModel.objects.filter(pk=model.pk).update(last_error=said)
    if finding.kind in HUNG:
        rest(finding.endpoint_id, finding.served_id, at=finding.at, until=finding.at + A_MOMENT, why=finding.said)
    apply_findings([finding])


def probe(model: DecisionModel) -> Probed:
    """Find out where a model answers and keep it; where nothing answered, what an earlier probe found stays, beside why."""
    found = cast(Callable[[DecisionModel], Probed], import_string(settings.BENCH_PROBE))(model)
    if found.types:
        model.dialect, model.url, model.question_types = found.dialect, found.url, list(found.types)
    model.last_error = tidy(found.error, LONGEST_ERROR)
    model.probed_at = timezone.now()
    model.save()
    return found
