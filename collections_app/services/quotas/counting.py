"""The counter: rows of Usage, read and written in one transaction at a time for each endpoint.

A day has one row; a minute's count is made of moments, one row for each call. Those are pruned once a day.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, models, transaction

from collections_app.models import Endpoint, Usage
from collections_app.models.health import Quota
from collections_app.services.quotas.claims import MINUTE, Drawn, Used

_TABLE = Usage._meta.db_table
# Added by the database, since nobody else's row may be lost; one statement for new and known rows.
ADD = (
    f"INSERT INTO {_TABLE} (endpoint_id, served_id, span, start, requests, tokens) VALUES (%s, %s, %s, %s, %s, %s) "  # noqa: S608
    f"ON CONFLICT (endpoint_id, served_id, span, start) DO UPDATE SET requests = {_TABLE}.requests + excluded.requests, "
    f"tokens = {_TABLE}.tokens + excluded.tokens"
)
CORRECT = (
    f"UPDATE {_TABLE} SET tokens = CASE WHEN tokens + %s < 0 THEN 0 ELSE tokens + %s END "  # noqa: S608 (names of ours)
    "WHERE endpoint_id = %s AND served_id = %s AND span = %s AND start = %s"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be added for one pattern, in the day or at the moment that `start` is."""

    pattern: str
    span: str
    start: datetime
    drawn: Drawn


@contextmanager
def counter_of(endpoint_id: int) -> Iterator[None]:
    """A transaction in which nobody else counts for this endpoint: a sum that is read stays right until it is acted on."""
    with transaction.atomic():
        if connection.features.has_select_for_update:
            # Rows that refer to the endpoint may be written meanwhile. SQLite's transactions take turns as it is.
            Endpoint.objects.select_for_update(no_key=True).values_list("pk").get(pk=endpoint_id)
        yield


def used_of(endpoint_id: int, quotas: Sequence[Quota], now: datetime) -> dict[str, Used]:
    """What each of the quotas has used as of `now`, by pattern: one query."""
    days = {quota.day(now)[0] for quota in quotas}
    counted = models.Q(span="day", start__in=days) | models.Q(span="minute", start__gt=now - MINUTE)
    rows = Usage.objects.filter(counted, endpoint_id=endpoint_id, served_id__in=[quota.pattern for quota in quotas])
    minutes: dict[str, list[tuple[datetime, Drawn]]] = {}
    today: dict[str, Drawn] = {}
    for pattern, span, start, requests, tokens in rows.order_by("start").values_list(
        "served_id", "span", "start", "requests", "tokens"
    ):
        if span == "minute":
            minutes.setdefault(pattern, []).append((start, Drawn(requests, tokens)))
        else:
            today[pattern] = Drawn(requests, tokens)
    return {quota.pattern: Used(minutes.get(quota.pattern, ()), today.get(quota.pattern)) for quota in quotas}


def entries(quota: Quota, drawn: Drawn, at: datetime) -> Iterator[Entry]:
    """What a call draws on one quota. A moment is kept only where a minute is limited; a day always, for people."""
    yield Entry(quota.pattern, "day", quota.day(at)[0], drawn)
    if quota.requests_per_minute or quota.tokens_per_minute:
        yield Entry(quota.pattern, "minute", at, drawn)


def add(endpoint_id: int, added: Iterable[Entry]) -> None:
    """Count what was drawn."""
    moment = connection.ops.adapt_datetimefield_value
    with connection.cursor() as cursor:
        cursor.executemany(
            ADD,
            [(endpoint_id, one.pattern, one.span, moment(one.start), one.drawn.requests, one.drawn.tokens) for one in added],
        )


def correct_tokens(endpoint_id: int, counted: Iterable[Entry], by: int) -> None:
    """Change the tokens of what was counted, to no less than none."""
    moment = connection.ops.adapt_datetimefield_value
    with connection.cursor() as cursor:
        cursor.executemany(CORRECT, [(by, by, endpoint_id, one.pattern, one.span, moment(one.start)) for one in counted])
