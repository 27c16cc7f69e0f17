"""One model's record: by shape, how fast and how it failed of late, its latest answers, and what it was wrong about.

Of its row and not of its alias, which may have been another's. Calls that the log has forgotten count, as far as tallies tell.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Max, Prefetch, QuerySet, Sum
from django.db.models.functions import Substr

from collections_app.models import LanguageModel
from evidence.counting.statistics import Share, quantile, wilson
from evidence.models import Call, Verdict
from evidence.selectors.findings import Claimed
from evidence.selectors.standing import COUNTED, LATEST, MERGER, Record, Wanted, tallies

EXCERPT = 200
LISTED = ("panel_id", "seat_name", "shape", "asked_at", "status", "error_kind", "seconds", "panel__panel_id", "panel__asked_by")


@dataclass(frozen=True, slots=True)
class Failures:
    """One kind of failure among the latest calls: an error's kind, or that nothing came."""

    kind: str
    share: Share


@dataclass(frozen=True, slots=True)
class Lately:
    """What the latest calls that have ended tell, of any shape and seat but the merger's; seconds, and output tokens a second.

    `first` is the median wait for the first token. None where no answer says.
    """

    calls: int
    answers: int
    median: float | None
    p95: float | None
    first: float | None
    pace: float | None
    failures: Sequence[Failures]


def records_by_shape(model: LanguageModel, *, merging: bool = False) -> list[Record]:
    """What it came to on each shape, the most judged first: as a member and explorer, or as a merger. One query."""
    sums = {name: Sum(name) for name in COUNTED}
    found = tallies(Wanted(seat=MERGER if merging else "")).filter(language_model=model)
    rows = found.values_list("shape").annotate(Max("last_asked"), **sums)
    made = (_record(model, *row) for row in rows)
    return sorted((one for one in made if one.asked), key=lambda one: (-one.judged, -one.asked, one.shape))


def _record(model: LanguageModel, shape: str, last_asked: object, *counts: int) -> Record:
    who = {"alias": model.alias, "endpoint_name": model.endpoint.name, "served_id": model.served_id, "language_model": model.pk}
    return Record(**who, shape=shape, last_asked=last_asked, **dict(zip(COUNTED, counts, strict=True)))  # type: ignore[arg-type]


def lately(model: LanguageModel) -> Lately:
    """How its latest calls went. One query."""
    fields = ("status", "error_kind", "seconds", "first_token_seconds", "output_tokens")
    calls = list(_latest(model).exclude(status=Call.Status.RUNNING).values_list(*fields)[:LATEST])
    answers = [call for call in calls if call[0] == Call.Status.OK and call[2] is not None]
    seconds = sorted(call[2] for call in answers)
    return Lately(
        calls=len(calls),
        answers=len(answers),
        median=quantile(seconds, 0.5),
        p95=quantile(seconds, 0.95),
        first=quantile(sorted(call[3] for call in answers if call[3] is not None), 0.5),
        pace=quantile(sorted(call[4] / call[2] for call in answers if call[4] and call[2]), 0.5),
        failures=list(_failures([(status, kind) for status, kind, *_ in calls])),
    )


def _failures(calls: Sequence[tuple[str, str]]) -> Iterator[Failures]:
    kinds = Counter(_kind(status, kind) for status, kind in calls if status != Call.Status.OK)
    ordered = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    return (Failures(kind, wilson(count, len(calls))) for kind, count in ordered)


def _kind(status: str, kind: str) -> str:
    return "came back empty" if status == Call.Status.EMPTY else (kind or "failed").replace("_", " ")


def latest_calls(model: LanguageModel, most: int) -> list[Call]:
    """Its latest calls with the beginning of each answer, their verdicts and panels: two queries."""
    counting = Verdict.objects.filter(replaced_at=None).only("call_id", "useful", "replaced_at")
    calls = _latest(model).select_related("panel").only(*LISTED).prefetch_related(Prefetch("verdicts", counting))
    return list(calls.annotate(excerpt=Substr("answer", 1, EXCERPT), said=Substr("error", 1, EXCERPT))[:most])


def wrong_about(model: LanguageModel, most: int) -> list[Claimed]:
    """Its newest claims that did not hold, by verdict. One query."""
    verdicts = Verdict.objects.filter(replaced_at=None, call__language_model=model).exclude(false=[])
    shown = ("false", "useful", "given_at", "call__seat_name", "call__alias", "call__shape", "call__panel__panel_id")
    newest = verdicts.select_related("call__panel").only(*shown).order_by("-pk")[:most]
    return [Claimed(verdict, tuple(verdict.false)) for verdict in newest]


def _latest(model: LanguageModel) -> QuerySet[Call]:
    return Call.objects.filter(language_model=model).exclude(seat_name=Call.MERGER).order_by("-asked_at")
