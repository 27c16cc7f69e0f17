"""How long ago models were asked on a shape, and, of those that are asked about, how often.

Members and explorers count; merging is another task. Ranks nobody.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import IntegerField, Max, OuterRef, QuerySet, Subquery, Sum

from collections_app.models import LanguageModel
from evidence.models import Call, Tally

# Counting stops here, so that seating costs the same however long the log is; busier models are tied.
MOST_COUNTED = 100


class CountedSubquery(Subquery):
    """How many rows a subquery returns; Count would ignore its limit."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


@dataclass(frozen=True, slots=True)
class Staleness:
    """When each model was last asked on a shape; None: never."""

    shape: str
    last_asked: Mapping[int, datetime | None]

    def calls(self, language_model_ids: Collection[int]) -> Mapping[int, int]:
        """How often each was, counted up to MOST_COUNTED: in the log, or where that knows nothing of it, before it.

        One query, answered from the index alone; it is for those few that were last asked at one time.
        """
        asked = CountedSubquery(_asked(self.shape).values("asked_at")[:MOST_COUNTED])
        found = dict(LanguageModel.objects.filter(pk__in=language_model_ids).order_by().values_list("pk", asked))
        forgotten = _forgotten(self.shape, [pk for pk, calls in found.items() if not calls and self.last_asked.get(pk)])
        return found | {pk: min(asked, MOST_COUNTED) for pk, (_, asked) in forgotten.items()}


def staleness(shape: str, language_model_ids: Collection[int]) -> Staleness:
    """Look when models were last asked on a shape.

    One query, answered from the index alone, and one more where the log knows nothing of some: calls that it has forgotten
    are older than all that it has.
    """
    models = LanguageModel.objects.filter(pk__in=language_model_ids).order_by()
    found = dict(models.values_list("pk", Subquery(_asked(shape).values("asked_at")[:1])))
    forgotten = _forgotten(shape, [pk for pk, last_asked in found.items() if last_asked is None])
    return Staleness(shape, found | {pk: last_asked for pk, (last_asked, _) in forgotten.items()})


def _asked(shape: str) -> QuerySet[Call]:
    """A model's calls, the latest first."""
    asked = Call.objects.filter(language_model=OuterRef("pk"), shape=shape).exclude(seat_name=Call.MERGER)
    return asked.order_by("-asked_at")


def _forgotten(shape: str, language_model_ids: Collection[int]) -> Mapping[int, tuple[datetime, int]]:
    """When models were last asked, and how often, by the calls that are not in the log any more; nobody who never was."""
    if not language_model_ids:
        return {}
    tallies = Tally.objects.filter(in_log=False, shape=shape, language_model__in=language_model_ids)
    of_seats = tallies.exclude(seat=Tally.Seat.MERGER).order_by().values_list("language_model")
    return {pk: (last_asked, asked) for pk, last_asked, asked in of_seats.annotate(Max("last_asked"), Sum("asked"))}
