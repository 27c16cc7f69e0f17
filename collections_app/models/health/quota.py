"""What the calls of one model draw on: its own limits and its account's, as values; and where a provider's day begins.

Counts nothing: how much of a limit is used is services/quotas.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from collections_app.models.catalog.fact import SOURCES, Fact
from collections_app.models.endpoint import Endpoint
from collections_app.models.health.pattern import WHOLE_ACCOUNT, covers, is_pattern
from collections_app.models.language_model import LanguageModel

LIMITS = ("requests_per_minute", "requests_per_day", "tokens_per_minute", "tokens_per_day")

# Providers whose days begin at a midnight other than UTC's: by their id in models.dev, and by the host of a base URL.
ZONES_BY_PROVIDER = {"google": "America/Los_Angeles"}
ZONES_BY_HOST = {"generativelanguage.googleapis.com": "America/Los_Angeles"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Limits that every id which `pattern` covers draws on, in requests and tokens; None: no such limit is known.

    Its day begins at midnight in `zone`.
    """

    pattern: str
    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None
    zone: str = "UTC"

    def limits(self) -> Iterator[tuple[str, int]]:
        """Every limit that is known, by its field's name."""
        for field in LIMITS:
            limit = getattr(self, field)
            if limit is not None:
                yield field, limit

    def day(self, now: datetime) -> tuple[datetime, datetime]:
        """When the provider's day began that `now` is in, and when the next one begins."""
        return day_in(self.zone, now)


def day_in(zone: str, now: datetime) -> tuple[datetime, datetime]:
    """When the day began that `now` is in, and when the next one begins, in UTC."""
    place = ZoneInfo(zone)
    today = now.astimezone(place).date()
    # Not 24 hours later: days on which clocks change have 23 or 25.
    first, last = (datetime(day.year, day.month, day.day, tzinfo=place) for day in (today, today + timedelta(days=1)))
    return first.astimezone(UTC), last.astimezone(UTC)


def quotas_of(model: LanguageModel, account: Iterable[Fact]) -> tuple[Quota, ...]:
    """What `model` draws on: its own limits, then its account's. Empty when no limit is known.

    `account` are facts about patterns, of any endpoint; the limits in the endpoint's own row come before those of `*`.
    """
    own = _quota(model.served_id, {field: model.known.get(field) for field in LIMITS}, zone_of(model.endpoint))
    return (*own, *(quota for quota in account_quotas(model.endpoint, account) if covers(quota.pattern, model.served_id)))


def account_quotas(endpoint: Endpoint, account: Iterable[Fact]) -> tuple[Quota, ...]:
    """What an endpoint's models draw on together: by the endpoint's own row, and by facts about patterns, of any endpoint."""
    held: dict[str, dict[str, Any]] = {WHOLE_ACCOUNT: {}}
    for field in LIMITS:
        if (limit := getattr(endpoint, field)) is not None:
            held[WHOLE_ACCOUNT][field] = limit
    theirs = (fact for fact in account if fact.endpoint_id == endpoint.pk and is_pattern(fact.served_id))
    for fact in sorted(theirs, key=lambda fact: SOURCES.index(fact.source)):
        held.setdefault(fact.served_id, {}).setdefault(fact.field, fact.value)
    return tuple(quota for pattern in held for quota in _quota(pattern, held[pattern], zone_of(endpoint)))


def zone_of(endpoint: Endpoint) -> str:
    """The time zone in which an endpoint's provider counts days."""
    if endpoint.provider:
        return ZONES_BY_PROVIDER.get(endpoint.provider, "UTC")
    return ZONES_BY_HOST.get(urlsplit(endpoint.base_url).hostname or "", "UTC")


def _quota(pattern: str, limits: Mapping[str, Any], zone: str) -> Iterator[Quota]:
    """The limits that are numbers of something, when there are any: facts are what others wrote."""
    numbers = {field: limit for field, limit in limits.items() if field in LIMITS and type(limit) is int and limit > 0}
    if numbers:
        yield Quota(pattern=pattern, zone=zone, **numbers)
