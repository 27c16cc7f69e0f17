"""Reading the call log: panels with their seats, verdicts owed.

Writes nothing and ranks nobody.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Prefetch, QuerySet, Sum

from evidence.models import Call, IdempotencyKey, Panel, Tally, Verdict
from evidence.storable import clean_text

# What a list shows of a call; an answer may be a megabyte.
LISTED_CALL = ("panel_id", "seat_name", "nominated", "alias", "status", "error_kind", "seconds")


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Calls of one panel that have a verdict, and `ok` ones still without."""

    given: int
    owed: int


def useful_verdicts(shape: str, language_model_ids: Collection[int]) -> Mapping[int, tuple[int, int]]:
    """Return, by model, how many of its answers on `shape` were judged useful and how many judged. One query."""
    tallies = Tally.objects.filter(shape=shape, language_model__in=language_model_ids).exclude(seat=Tally.Seat.MERGER)
    counts = tallies.order_by().values_list("language_model").annotate(Sum("useful"), Sum("not_useful"))
    return {pk: (useful, useful + not_useful) for pk, useful, not_useful in counts if useful + not_useful}


def panel_known_as(asked_by: str, key: str, *, since: datetime) -> IdempotencyKey | None:
    """Return what a caller has asked under an idempotency key since then, with its panel's id."""
    known = IdempotencyKey.objects.filter(asked_by=asked_by, key=key, made_at__gte=since)
    return known.select_related("panel").only("digest", "panel__panel_id").first()


def call_named(call_id: str) -> Call | None:
    """Return the call with that id and its panel, without their texts."""
    panel_id, _, seat_name = clean_text(call_id).rpartition(".")
    calls = Call.objects.filter(panel__panel_id=panel_id, seat_name=seat_name).select_related("panel")
    return calls.only("seat_name", "status", "panel__panel_id", "panel__asked_by").first()


def panel_with_calls(panel_id: str) -> Panel | None:
    """Return a panel with its calls in seat order and their verdicts, answers and all, in three queries.

    Its request, which may be megabytes, is read when it is asked for: whoever waits for a panel looks at it again and again.
    """
    panels = Panel.objects.filter(panel_id=clean_text(panel_id)).select_related("collection").defer("request")
    return panels.prefetch_related("calls__verdicts").first()


def panels_listed() -> QuerySet[Panel]:
    """Return panels, newest first, with what a list shows of their calls and verdicts: three queries, no long text."""
    calls = Call.objects.only(*LISTED_CALL)
    verdicts = Verdict.objects.filter(replaced_at=None).only("call_id", "useful", "replaced_at")
    return Panel.objects.defer("request").prefetch_related(Prefetch("calls", calls), Prefetch("calls__verdicts", verdicts))


def verdict_counts(panel: Panel) -> VerdictCounts:
    """Count a panel's verdicts given and owed; asks nothing of a panel from panels_listed or panel_with_calls."""
    calls = list(panel.calls.all())
    given = sum(call.verdict is not None for call in calls)
    return VerdictCounts(given, owed=sum(call.status == Call.Status.OK and call.verdict is None for call in calls))


def has_verdict() -> Exists:
    """The condition on calls that one of their verdicts counts."""
    return Exists(Verdict.objects.filter(call=OuterRef("pk"), replaced_at=None))


def verdicts_owed(asked_by: str | None = None) -> QuerySet[Call]:
    """Return `ok` calls without a verdict, newest first, with their panels: of one caller, or of all."""
    owed = Call.objects.filter(~has_verdict(), status=Call.Status.OK).select_related("panel")
    # Either order is an index's own, so that a page of them ends the search, however long the log is.
    if asked_by is None:
        return owed.order_by("-pk")
    return owed.filter(panel__asked_by=asked_by).order_by("-panel__asked_at", "-panel_id", "-pk")
