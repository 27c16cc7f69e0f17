"""What is left of limits, when they are whole again, and how long a day's will last at today's pace: for people's pages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from collections_app.models import Endpoint, Fact, LanguageModel
from collections_app.models.health import Quota
from collections_app.models.health.quota import account_quotas
from collections_app.selectors import account_facts, quotas_by_model
from collections_app.services.quotas.claims import MINUTE, Used, span_of, unit_of
from collections_app.services.quotas.counting import used_by_endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One limit, as far as it is used. `pattern`: the ids that share it.

    `resets_at`: when something is free again, None while nothing is used; `lasts_until`: when the day's will be used up at
    today's pace, None when it lasts until the reset.
    """

    pattern: str
    field: str
    limit: int
    used: int
    left: int
    resets_at: datetime | None
    lasts_until: datetime | None = None


def forecast(model: LanguageModel, now: datetime | None = None) -> list[Forecast]:
    """Every limit that a model draws on, its account's too."""
    return forecasts([model], now)[model.pk]


def forecasts(models: Sequence[LanguageModel], now: datetime | None = None) -> dict[int, list[Forecast]]:
    """The same for many models, by primary key: two queries, and one where there are limits."""
    at = now or timezone.now()
    quotas = quotas_by_model(models)
    by_endpoint: dict[int, dict[str, Quota]] = {}
    for model in models:
        by_endpoint.setdefault(model.endpoint_id, {}).update({quota.pattern: quota for quota in quotas[model.pk]})
    used = _used({endpoint: list(shared.values()) for endpoint, shared in by_endpoint.items()}, at)
    return {model.pk: list(_forecasts(quotas[model.pk], used[model.endpoint_id], at)) for model in models}


def forecast_endpoint(endpoint: Endpoint, now: datetime | None = None) -> list[Forecast]:
    """The limits of an endpoint's account."""
    return forecast_accounts([endpoint], now)[endpoint.pk]


def forecast_accounts(endpoints: Sequence[Endpoint], now: datetime | None = None) -> dict[int, list[Forecast]]:
    """The same for many endpoints, by primary key: one query, and one where there are limits."""
    at = now or timezone.now()
    facts: dict[int, list[Fact]] = {}
    for fact in account_facts({endpoint.pk for endpoint in endpoints}):
        facts.setdefault(fact.endpoint_id, []).append(fact)
    quotas = {endpoint.pk: account_quotas(endpoint, facts.get(endpoint.pk, ())) for endpoint in endpoints}
    used = _used(quotas, at)
    return {endpoint: list(_forecasts(theirs, used[endpoint], at)) for endpoint, theirs in quotas.items()}


def _used(quotas: Mapping[int, Sequence[Quota]], at: datetime) -> dict[int, dict[str, Used]]:
    return used_by_endpoint(quotas, at) if any(quotas.values()) else {endpoint: {} for endpoint in quotas}


def _forecasts(quotas: Iterable[Quota], used: dict[str, Used], at: datetime) -> Iterator[Forecast]:
    for quota in quotas:
        for field, limit in quota.limits():
            yield _forecast(quota, field, limit, used[quota.pattern], at)


def _forecast(quota: Quota, field: str, limit: int, used: Used, at: datetime) -> Forecast:
    if span_of(field) == "minute":
        drawn = used.last_minute(unit_of(field))
        resets_at, lasts_until = (used.minute[0][0] + MINUTE if used.minute else None), None
    else:
        drawn = used.today(unit_of(field))
        began, resets_at = quota.day(at)
        lasts_until = _lasts_until(drawn, limit, began, at)
        if lasts_until and lasts_until >= resets_at:
            lasts_until = None
    return Forecast(
        pattern=quota.pattern,
        field=field,
        limit=limit,
        used=drawn,
        left=max(0, limit - drawn),
        resets_at=resets_at,
        lasts_until=lasts_until,
    )


def _lasts_until(drawn: int, limit: int, began: datetime, at: datetime) -> datetime | None:
    """When a limit will be used up at the pace since the day began; None when nothing was drawn."""
    if drawn >= limit:
        return at
    return at + (at - began) * ((limit - drawn) / drawn) if drawn else None
