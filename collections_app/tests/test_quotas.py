"""Limits of providers are kept: what fits goes out, what does not waits or is told until when, and nothing is counted twice."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from collections_app.models import Alert, CoolDown, Endpoint, Fact, LanguageModel, Usage
from collections_app.models.health import Quota, quotas_of
from collections_app.roster import RosterKeeper
from collections_app.selectors import quotas_by_model
from collections_app.services.quotas import (
    Claim,
    LimitTold,
    Refused,
    Reservation,
    correct,
    forecast,
    forecast_endpoint,
    settle,
)
from collections_app.services.quotas import reserve as reserve_claim
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 30, tzinfo=UTC)


def seconds(number: float) -> datetime:
    return NOON + timedelta(seconds=number)


def claim(*quotas: Quota, tokens: int = 0) -> Claim:
    return Claim(endpoint_id=make_endpoint().pk, quotas=quotas, tokens=tokens)


def reserve(*quotas: Quota, at: datetime = NOON, tokens: int = 0) -> Reservation | Refused:
    return reserve_claim(claim(*quotas, tokens=tokens), now=at)


def refused(*quotas: Quota, at: datetime = NOON, tokens: int = 0) -> Refused:
    answer = reserve(*quotas, at=at, tokens=tokens)
    assert isinstance(answer, Refused), answer
    return answer


def reserved(*quotas: Quota, at: datetime = NOON, tokens: int = 0) -> Reservation:
    answer = reserve(*quotas, at=at, tokens=tokens)
    assert isinstance(answer, Reservation), answer
    return answer


def test_calls_go_out_until_a_minute_is_full_and_again_when_the_first_is_a_minute_old() -> None:
    quota = Quota(pattern="fast", requests_per_minute=2)
    reserved(quota)
    reserved(quota, at=seconds(10))
    answer = refused(quota, at=seconds(20))
    assert (answer.until, answer.why) == (seconds(60), "its limit of 2 requests a minute is used up")
    reserved(quota, at=seconds(60))
    assert refused(quota, at=seconds(60)).until == seconds(70)


def test_a_minutes_edge_lets_no_second_minutes_calls_through() -> None:
    quota = Quota(pattern="fast", requests_per_minute=20)
    last = datetime(2026, 11, 29, 12, 0, 59, 900_000, tzinfo=UTC)
    for _ in range(20):
        reserved(quota, at=last)
    assert refused(quota, at=last + timedelta(milliseconds=200)).until == last + timedelta(seconds=60)
    reserved(quota, at=last + timedelta(seconds=60))


def test_a_moment_is_a_tenth_of_a_second_and_counts_as_its_end() -> None:
    quota = Quota(pattern="fast", requests_per_minute=500)
    for millisecond in range(500):
        reserved(quota, at=NOON + timedelta(milliseconds=millisecond + 1))
    assert Usage.objects.filter(span="minute").count() == 5
    assert refused(quota, at=seconds(59)).until == seconds(60.1)
    for _ in range(100):
        reserved(quota, at=seconds(60.1))
    assert refused(quota, at=seconds(60.1)).until == seconds(60.2)


def test_a_day_begins_at_the_providers_midnight() -> None:
    utc, pacific = (Quota(pattern=zone, requests_per_day=1, zone=zone) for zone in ("UTC", "America/Los_Angeles"))
    for quota, ends in ((utc, MIDNIGHT), (pacific, MIDNIGHT + timedelta(hours=8))):
        reserved(quota)
        assert refused(quota, at=ends - timedelta(microseconds=1)).until == ends
        reserved(quota, at=ends)


@pytest.mark.parametrize(
    ("day", "hours"), [(datetime(2026, 11, 1, 12, tzinfo=UTC), 25), (datetime(2027, 3, 14, 12, tzinfo=UTC), 23)]
)
def test_days_on_which_clocks_change_are_as_long_as_they_are(day: datetime, hours: int) -> None:
    began, ends = Quota(pattern="x", zone="America/Los_Angeles").day(day)
    assert ends - began == timedelta(hours=hours)


def test_an_accounts_limit_is_every_models_and_all_are_drawn_on_or_none() -> None:
    account = Quota(pattern="*:free", requests_per_day=3)
    one, other = (Quota(pattern=f"{name}:free", requests_per_day=2) for name in ("one", "other"))
    reserved(one, account), reserved(one, account)
    assert refused(one, account).why == "its limit of 2 requests a day is used up"
    # What was refused drew nothing on the account.
    reserved(other, account)
    answer = refused(other, account)
    assert (answer.until, answer.why) == (MIDNIGHT, "its account's limit of 3 requests a day for *:free is used up")
    assert dict(Usage.objects.values_list("served_id", "requests")) == {"one:free": 2, "other:free": 1, "*:free": 3}


def test_tokens_are_reserved_by_the_estimate_and_corrected_by_what_was_used() -> None:
    quota = Quota(pattern="fast", tokens_per_minute=1000)
    first = reserved(quota, tokens=700)
    answer = refused(quota, tokens=400)
    assert (answer.until, answer.why) == (seconds(60), "its limit of 1,000 tokens a minute is used up")
    settle(first, 500, now=NOON)
    second = reserved(quota, tokens=400)
    settle(second, 600, now=NOON)
    assert refused(quota, tokens=1).until == seconds(60)
    assert Usage.objects.get(span="day").tokens == 1100


def test_a_request_that_is_larger_than_the_limit_never_fits_and_says_so() -> None:
    answer = refused(Quota(pattern="fast", tokens_per_minute=6000, requests_per_minute=1), tokens=6001)
    assert answer.until is None
    assert answer.why == "its limit of 6,000 tokens a minute is less than the 6,001 tokens that this request may take"


def test_the_limit_that_holds_longest_is_named() -> None:
    quota = Quota(pattern="fast", requests_per_minute=1, requests_per_day=1)
    reserved(quota)
    assert refused(quota).until == MIDNIGHT


def test_the_last_call_of_a_day_lets_the_model_rest_until_the_next() -> None:
    model = make_model("fast", requests_per_day=2)
    roster = RosterKeeper()
    (quota,) = roster.current().quotas_of(model)
    now = datetime.now(UTC)
    reserved(quota, at=now)
    assert roster.current().cool_down_of(model) is None
    reserved(quota, at=now)
    rest = roster.current().cool_down_of(model)
    assert rest
    assert (rest.until, rest.why) == (quota.day(now)[1], "its limit of 2 requests a day is used up")


def test_what_an_estimate_alone_used_up_is_free_again_when_less_was_used() -> None:
    quota = Quota(pattern="fast", tokens_per_day=1000)
    first = reserved(quota, tokens=1000)
    assert CoolDown.objects.get().why == "its limit of 1,000 tokens a day is used up"
    settle(first, 990, now=NOON)
    assert not CoolDown.objects.exists()
    assert Alert.objects.get(resolved_at=None).kind == "quota_low"
    settle(first, 100, now=NOON)
    assert not Alert.objects.filter(resolved_at=None).exists()
    reserved(quota, tokens=900)


def test_a_limit_that_was_lowered_lets_the_model_rest_with_the_next_refusal_and_a_raised_one_ends_it() -> None:
    model = make_model("fast", requests_per_day=5)
    for _ in range(4):
        reserved(*quotas_of(model, ()))
    model.requests_per_day = 3
    model.save()
    refused(*quotas_by_model([LanguageModel.objects.get()])[model.pk])
    assert CoolDown.objects.get().until == MIDNIGHT
    model.requests_per_day = 6
    model.save()
    assert not CoolDown.objects.exists()


def test_a_person_is_told_once_when_less_than_a_tenth_of_a_day_is_left_and_the_next_day_takes_it_back() -> None:
    quota = Quota(pattern="*:free", requests_per_day=50)
    for _ in range(45):
        reserved(quota)
    assert not Alert.objects.exists()
    reserved(quota), reserved(quota)
    alert = Alert.objects.get(resolved_at=None)
    assert (alert.kind, alert.about) == ("quota_low", "*:free")
    assert alert.message == "*:free at upstream: 4 of 50 requests a day left until 2026-11-30 00:00 UTC, by this bench's count."
    reserved(quota, at=MIDNIGHT)
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_what_is_known_of_limits_comes_from_the_row_then_facts_for_the_model_and_for_its_account() -> None:
    endpoint = make_endpoint("router", requests_per_minute=20)
    model = make_model("fast", endpoint=endpoint, served_id="a/b:free", requests_per_day=7)
    facts = [
        ("a/b:free", "requests_per_day", 99, "learned"),
        ("a/b:free", "tokens_per_minute", 6000, "models_dev"),
        ("*:free", "requests_per_day", 1000, "freellmapi"),
        ("*:free", "requests_per_day", 50, "learned"),
        ("*:paid", "requests_per_day", 5, "learned"),
        ("*", "requests_per_minute", 60, "learned"),
        ("*", "tokens_per_day", "many", "learned"),
    ]
    for served_id, field, value, source in facts:
        Fact.objects.create(endpoint=endpoint, served_id=served_id, field=field, value=value, source=source, known_since=NOON)
    expected = {
        Quota(pattern="a/b:free", requests_per_day=7, tokens_per_minute=6000),
        Quota(pattern="*", requests_per_minute=20),
        Quota(pattern="*:free", requests_per_day=50),
    }
    assert set(quotas_by_model([model])[model.pk]) == expected
    assert set(RosterKeeper().current().quotas_of(model)) == expected
    assert quotas_by_model([make_model("plain", endpoint=make_endpoint("plain"))]).popitem()[1] == ()


@pytest.mark.parametrize(
    ("fields", "zone"),
    [
        ({"provider": "google"}, "America/Los_Angeles"),
        ({"base_url": "https://generativelanguage.googleapis.com/v1beta"}, "America/Los_Angeles"),
        ({"provider": "groq"}, "UTC"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "UTC"),
    ],
)
def test_whose_midnight_counts_is_known_by_the_provider_or_its_host(fields: dict[str, str], zone: str) -> None:
    endpoint = Endpoint(name="x", **fields)
    assert quotas_of(LanguageModel(endpoint=endpoint, served_id="m", requests_per_day=1), ())[0].zone == zone


def test_what_a_provider_says_is_left_raises_our_count_and_never_lowers_it(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    quota = Quota(pattern="fast", requests_per_day=100, requests_per_minute=10)
    reserved(quota)
    endpoint = make_endpoint().pk

    def told(field: str, limit: int, remaining: int | None, reset: float | None = None) -> None:
        correct(endpoint, [("fast", LimitTold(field=field, limit=limit, remaining=remaining, reset_seconds=reset))], NOON)

    told("requests_per_day", 100, 99)
    told("requests_per_day", 100, 40)
    told("requests_per_day", 100, 70)
    told("requests_per_day", 100, None)
    assert Usage.objects.get(span="day").requests == 60
    # Others use the account: of this minute 9 are gone, and in 15 seconds all is free again.
    told("requests_per_minute", 10, 1, 15)
    reserved(quota, at=seconds(1))
    assert refused(quota, at=seconds(1)).until == seconds(15)
    reserved(quota, at=seconds(15))
    told("requests_per_day", 100, 0)
    assert refused(quota, at=seconds(16)).until == MIDNIGHT
    assert CoolDown.objects.get().until == MIDNIGHT
    with django_assert_num_queries(0):
        correct(endpoint, [("fast", LimitTold(field="requests_per_day", limit=100, remaining=100))], NOON)


def test_a_forecast_says_what_is_left_when_it_is_whole_again_and_how_long_it_lasts() -> None:
    endpoint = make_endpoint(requests_per_day=100)
    model = make_model("fast", endpoint=endpoint, requests_per_minute=10, tokens_per_day=1_000_000)
    quotas = quotas_by_model([model])[model.pk]
    for minute in range(60, 0, -1):
        reserved(*quotas, at=NOON - timedelta(minutes=minute), tokens=100)
    reserved(*quotas, at=NOON, tokens=100)
    by_field = {(one.pattern, one.field): one for one in forecast(model, seconds(1))}
    minute = by_field[model.served_id, "requests_per_minute"]
    assert (minute.used, minute.left, minute.resets_at, minute.lasts_until) == (1, 9, seconds(60), None)
    tokens = by_field[model.served_id, "tokens_per_day"]
    assert (tokens.used, tokens.left, tokens.resets_at, tokens.lasts_until) == (6100, 993_900, MIDNIGHT, None)
    account = by_field["*", "requests_per_day"]
    assert (account.used, account.left) == (61, 39)
    # 61 in half a day: 39 more take 7 hours and 40 minutes.
    assert account.lasts_until
    assert abs(account.lasts_until - (NOON + timedelta(hours=12) * 39 / 61)) < timedelta(minutes=1)
    assert forecast_endpoint(endpoint, seconds(1)) == [account]
    assert [one.used for one in forecast(make_model("plain", requests_per_day=3), NOON)] == [0, 61]
    assert forecast(make_model("free", endpoint=make_endpoint("free")), NOON) == []


def test_reserving_costs_few_statements(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    quotas = (Quota(pattern="fast", requests_per_minute=10, tokens_per_day=10_000), Quota(pattern="*", requests_per_day=100))
    settle(reserved(*quotas, tokens=10), 10)
    without_tokens = reserved(quotas[1])
    with django_assert_max_num_queries(5 + connection.features.has_select_for_update):
        # A savepoint, one reading, two rows written for one quota and one for the other.
        first = reserved(*quotas, tokens=10)
    with django_assert_max_num_queries(0):
        settle(first, 10)
        settle(without_tokens, 10)
