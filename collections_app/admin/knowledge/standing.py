"""How models stand now, for a list of them: who rests until when, and which of their limits is nearest to its end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.views import ChangeList

from collections_app.models import CoolDown, Fact, LanguageModel
from collections_app.models.catalog import SOURCES
from collections_app.models.health import covers, is_pattern
from collections_app.services.quotas import Forecast, forecasts

Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Standing:
    """The rest that is under way, the longest of its own and its account's; the limit that is nearest to its end."""

    rest: CoolDown | None
    left: Forecast | None


def standings(models: Sequence[LanguageModel]) -> dict[int, Standing]:
    """How each of `models` stands, by primary key, and have them know what is known: four queries, however many."""
    now = timezone.now()
    left = forecasts(models, now)
    rests = under_way({model.endpoint_id for model in models})
    return {model.pk: Standing(_longest(model, rests), _tightest(left[model.pk])) for model in models}


def under_way(endpoints: Iterable[int]) -> dict[int, list[CoolDown]]:
    """The rests of these endpoints that are not over, by endpoint."""
    rests: dict[int, list[CoolDown]] = {}
    for rest in CoolDown.objects.filter(until__gt=timezone.now(), endpoint__in=endpoints):
        rests.setdefault(rest.endpoint_id, []).append(rest)
    return rests


def _longest(model: LanguageModel, rests: Mapping[int, list[CoolDown]]) -> CoolDown | None:
    theirs = (rest for rest in rests.get(model.endpoint_id, ()) if covers(rest.served_id, model.served_id))
    return max(theirs, key=lambda rest: rest.until, default=None)


def _tightest(left: Iterable[Forecast]) -> Forecast | None:
    """A day's before a minute's, which is whole again in a moment."""
    return min(left, key=lambda one: ("minute" in one.field, one.left / one.limit), default=None)


class StandingList(ChangeList):
    """A page of models, each with `standing` and what is known of it."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        models: list[Any] = list(self.result_list)
        found = standings(models)
        for model in models:
            model.standing = found[model.pk]
        self.result_list = models


class TakesFilter(admin.SimpleListFilter):
    """By what holds, whoever knows it; not by the model's own row alone."""

    title = "takes"
    parameter_name = "takes"

    def lookups(self, request: HttpRequest, model_admin: object) -> Choices:
        return [("vision", "images"), ("tools", "tools")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> QuerySet[LanguageModel]:
        field = self.value()
        return queryset.filter(pk__in=_able(field)) if field in ("vision", "tools") else queryset


def _able(field: str) -> list[int]:
    """The models that can, by their own row, else by the first source that knows: two queries."""
    held: dict[tuple[int, str], tuple[int, bool]] = {}
    facts = Fact.objects.filter(field=field).values_list("endpoint_id", "served_id", "source", "value")
    for endpoint, served_id, source, value in facts:
        known = SOURCES.index(source), value is True
        held[endpoint, served_id] = min(held.get((endpoint, served_id), known), known)
    rows = LanguageModel.objects.values_list("pk", "endpoint_id", "served_id", field)
    return [
        pk for pk, endpoint, served_id, own in rows if (held.get((endpoint, served_id), (0, False))[1] if own is None else own)
    ]


class NowFilter(admin.SimpleListFilter):
    title = "now"
    parameter_name = "now"

    def lookups(self, request: HttpRequest, model_admin: object) -> Choices:
        return [("resting", "cooling down"), ("gone", "retired by the bench")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> QuerySet[LanguageModel]:
        narrowed: Mapping[str | None, Callable[[QuerySet[LanguageModel]], QuerySet[LanguageModel]]] = {
            "resting": lambda models: models.filter(_resting()),
            "gone": lambda models: models.filter(status=LanguageModel.Status.RETIRED).exclude(retired_why=""),
        }
        return narrowed[self.value()](queryset) if self.value() in narrowed else queryset


def _resting() -> Q:
    """Models that somebody lets rest, by id and by pattern."""
    resting, ids = Q(pk__in=[]), dict[int, list[str]]()
    for rest in CoolDown.objects.filter(until__gt=timezone.now()):
        if is_pattern(rest.served_id):
            resting |= Q(endpoint=rest.endpoint_id, served_id__endswith=rest.served_id[1:])
        else:
            ids.setdefault(rest.endpoint_id, []).append(rest.served_id)
    for endpoint, served_ids in ids.items():
        resting |= Q(endpoint=endpoint, served_id__in=served_ids)
    return resting
