"""The counter: rows of Usage, read and written in one transaction at a time for each endpoint.

A day has one row; a minute's count is made of moments, which are pruned once a day. A moment is a tenth of a second, and
counts as its end: so a minute has 600 at most, however much goes out, and none is forgotten too early.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection, models, transaction

from collections_app.models import Endpoint, Usage
from collections_app.models.health import Quota
from collections_app.services.quotas.claims import MINUTE, Drawn, Used

# Microseconds.
MOMENT = 100_000
_TABLE = Usage._meta.db_table
# Added by the database, since nobody else's row may be lost; one statement for new and known rows.
ADD = (
    f"INSERT INTO {_TABLE} (endpoint_id, served_id, span, start, requests, tokens) VALUES (%s, %s, %s, %s, %s, %s) "  # noqa: S608
    f"ON CONFLICT (endpoint_id, served_id, span, start) DO UPDATE SET requests = {_TABLE}.requests + excluded.requests, "
    f"tokens = {_TABLE}.tokens + excluded.tokens"
)
READ = (
    f"SELECT served_id, span, start, requests, tokens FROM {_TABLE} WHERE endpoint_id = %s AND served_id IN ({{}}) "  # noqa: S608
    "AND ((span = 'minute' AND start > %s) OR (span = 'day' AND start IN ({}))) ORDER BY start"
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
    """What each of the quotas has used as of `now`, by pattern: one query.

    For the request's way, and so as text: building it anew took longer than the database does.
    """
    moment = connection.ops.adapt_datetimefield_value
    days = {quota.pattern: quota.day(now)[0] for quota in quotas}
    starts = set(days.values())
    query = READ.format(", ".join(["%s"] * len(days)), ", ".join(["%s"] * len(starts)))
    minutes: dict[str, list[tuple[datetime, Drawn]]] = {}
    today: dict[str, Drawn] = {}
    with connection.cursor() as cursor:
        cursor.execute(query, [endpoint_id, *days, moment(now - MINUTE), *map(moment, starts)])
        for pattern, span, start, requests, tokens in cursor.fetchall():
            if span == "minute":
                minutes.setdefault(pattern, []).append((_read_moment(start), Drawn(requests, tokens)))
            else:
                today[pattern] = Drawn(requests, tokens)
    return {pattern: Used(minutes.get(pattern, ()), today.get(pattern)) for pattern in days}


def used_by_endpoint(quotas: Mapping[int, Sequence[Quota]], now: datetime) -> dict[int, dict[str, Used]]:
    """The same for the quotas of many endpoints: one query, for people's pages."""
    days = {(endpoint, quota.pattern): quota.day(now)[0] for endpoint, each in quotas.items() for quota in each}
    counted = models.Q(span="day", start__in=set(days.values())) | models.Q(span="minute", start__gt=now - MINUTE)
    rows = Usage.objects.filter(counted, endpoint_id__in=quotas, served_id__in={pattern for _, pattern in days})
    minutes: dict[tuple[int, str], list[tuple[datetime, Drawn]]] = {}
    today: dict[tuple[int, str], Drawn] = {}
    for endpoint, pattern, span, start, requests, tokens in rows.order_by("start").values_list(
        "endpoint_id", "served_id", "span", "start", "requests", "tokens"
    ):
        key = endpoint, pattern
        if span == "minute":
            minutes.setdefault(key, []).append((start, Drawn(requests, tokens)))
        # Of two endpoints in one list, each has midnights of its own.
        elif start == days.get(key):
            today[key] = Drawn(requests, tokens)
    used: dict[int, dict[str, Used]] = {endpoint: {} for endpoint in quotas}
    for endpoint, pattern in days:
        used[endpoint][pattern] = Used(minutes.get((endpoint, pattern), ()), today.get((endpoint, pattern)))
    return used


def entries(quota: Quota, drawn: Drawn, at: datetime) -> Iterator[Entry]:
    """What a call draws on one quota. A moment is kept only where a minute is limited; a day always, for people."""
    yield Entry(quota.pattern, "day", quota.day(at)[0], drawn)
    if quota.requests_per_minute or quota.tokens_per_minute:
        yield Entry(quota.pattern, "minute", end_of_moment(at), drawn)


def end_of_moment(at: datetime) -> datetime:
    """When the tenth of a second ends that `at` is in."""
    return at + timedelta(microseconds=-at.microsecond % MOMENT)


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


def _read_moment(moment: datetime) -> datetime:
    """A moment as a cursor gives it: from SQLite in UTC, without saying so."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
