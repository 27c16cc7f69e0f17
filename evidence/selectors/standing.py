"""How models stand on a kind of work: what they were asked, how they answered and were judged, by the tallies.

Ranks, and says how sure that is; decides nothing. Calls that the log has forgotten count, as far as what is asked for can be
told of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import JSONField, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone

from collections_app.models import LanguageModel
from evidence.counting.statistics import Share, quantile, wilson
from evidence.models import Call, Tally

COUNTED = (
    "asked",
    "answered",
    "empty",
    "failed",
    "owed",
    "useful",
    "not_useful",
    "claims_real",
    "claims_false",
    "unique_finds",
    "seconds",
)
WHO = ("alias", "endpoint_name", "served_id")
# Of the answers among so many of its latest calls the median and the 95th percentile are: how fast it was last year is no help.
LATEST = 200
MERGER = Tally.Seat.MERGER


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which calls: of one shape, one collection, the latest days, models of one role, one kind of seat. Empty: of any.

    No kind of seat is members and explorers: merging is another task.
    """

    shape: str = ""
    collection: str = ""
    days: int = 0
    role: str = ""
    seat: str = ""

    def since(self) -> date | None:
        """The first day that counts, in UTC: today is one."""
        return (timezone.now() - timedelta(days=self.days - 1)).date() if self.days else None


@dataclass(frozen=True, slots=True)
class Record:
    """What one model's calls came to. `shape` is empty where shapes are taken together.

    `seconds` is what its answers took together; `median` and `p95` are seconds, of the `timed` latest answers; None until they
    are looked up.
    """

    alias: str
    endpoint_name: str
    served_id: str
    language_model: int | None
    last_asked: datetime
    asked: int
    answered: int
    empty: int
    failed: int
    owed: int
    useful: int
    not_useful: int
    claims_real: int
    claims_false: int
    unique_finds: int
    seconds: float
    shape: str = ""
    median: float | None = None
    p95: float | None = None
    timed: int = 0
    share: Share = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", wilson(self.useful, self.judged))

    @property
    def judged(self) -> int:
        return self.useful + self.not_useful

    @property
    def answers(self) -> Share:
        """How often it answered when asked."""
        return wilson(self.answered, self.asked)


@dataclass(frozen=True, slots=True)
class ShapeJudged:
    """A shape, and how many calls of members and explorers on it were judged, where that was counted."""

    shape: str
    judged: int | None


def shapes_judged() -> list[ShapeJudged]:
    """Every shape with a call, those first of which most is known. One query."""
    counts = tallies(Wanted()).values_list("shape").annotate(Sum("useful"), Sum("not_useful"), Sum("asked"))
    ordered = sorted(counts, key=lambda row: (-row[1] - row[2], -row[3], row[0]))
    return [ShapeJudged(shape, useful + not_useful) for shape, useful, not_useful, _ in ordered]


def tallies(wanted: Wanted) -> QuerySet[Tally]:
    """The tallies of what is wanted."""
    # Each only where it narrows: a condition that lets all through costs as much as one that does not.
    found = Tally.objects.order_by()
    found = found.filter(seat=wanted.seat) if wanted.seat else found.exclude(seat=MERGER)
    if wanted.shape:
        found = found.filter(shape=wanted.shape)
    if wanted.collection:
        found = found.filter(collection_name=wanted.collection)
    if since := wanted.since():
        found = found.filter(day__gte=since)
    return found.filter(language_model__role=wanted.role) if wanted.role else found


def records(wanted: Wanted, *by: str) -> list[Record]:
    """Every model's record, the best known to be useful first; by model, and by further fields of a tally. One query."""
    sums = {name: Sum(name) for name in COUNTED}
    rows = tallies(wanted).values_list(*WHO, *by).annotate(Max("language_model_id"), Max("last_asked"), **sums)
    fields = (*WHO, *by, "language_model", "last_asked", *COUNTED)
    made = (Record(**dict(zip(fields, row, strict=True))) for row in rows.iterator(chunk_size=5000))
    return sorted((record for record in made if record.asked), key=_place)


def _place(record: Record) -> tuple[Any, ...]:
    """By the lower bound; those that nobody judged after all that somebody did, the most asked first."""
    return (-record.share.low, not record.judged, -record.judged, -record.asked, record.alias)


class GatheredSubquery(Subquery):
    """The values of a subquery of one column, as a list."""

    template = "(SELECT json_group_array(gathered.seconds) FROM (%(subquery)s) AS gathered)"
    output_field = JSONField()

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "(SELECT COALESCE(jsonb_agg(gathered.seconds), '[]'::jsonb) FROM (%(subquery)s) AS gathered)"
        return self.as_sql(compiler, connection, template=template, **extra)


def timed(found: Sequence[Record], wanted: Wanted) -> list[Record]:
    """The same records with how fast their models answered of late, as far as the log holds it. One query for a page."""
    # The latest are found in the index alone; answers, and with them how they ended, are looked into for those few.
    latest = Call.objects.filter(_seats(wanted.seat), language_model=OuterRef(OuterRef("pk"))).order_by("-asked_at")
    if wanted.shape:
        latest = latest.filter(shape=wanted.shape)
    if since := wanted.since():
        latest = latest.filter(asked_at__gte=datetime(since.year, since.month, since.day, tzinfo=UTC))
    if wanted.collection:
        latest = latest.filter(panel__collection_name=wanted.collection)
    answers = Call.objects.filter(pk__in=latest.values("pk")[:LATEST], status=Call.Status.OK, seconds__isnull=False)
    models = LanguageModel.objects.filter(pk__in={record.language_model for record in found}).order_by()
    gathered = dict(models.values_list("pk", GatheredSubquery(answers.order_by().values("seconds"))))
    return [_timed(record, gathered.get(record.language_model)) for record in found]


def _timed(record: Record, seconds: Iterable[float] | None) -> Record:
    # PostgreSQL's JSON says 2.0 as 2.
    latest = sorted(map(float, seconds or ()))
    return replace(record, median=quantile(latest, 0.5), p95=quantile(latest, 0.95), timed=len(latest))


def _seats(seat: str) -> Q:
    """The condition on a call's seat that is the one on a tally's."""
    if not seat:
        return ~Q(seat_name=Call.MERGER)
    return Q(seat_name=Call.MERGER) if seat == MERGER else Q(seat_name__startswith=seat)
