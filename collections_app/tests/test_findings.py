"""What follows from calls: windows learned, waits, retirement, alerts; and what does not, however it is put."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from collections_app.models import Alert, Change, CoolDown, Doubt, Fact, LanguageModel, Usage
from collections_app.roster import RosterKeeper
from collections_app.selectors import know
from collections_app.services import retirement
from collections_app.services.findings import Finding, apply_findings, applying, is_news, prune_health
from collections_app.services.quotas import LimitTold
from collections_app.services.status import set_status
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 29, 18, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def fast() -> LanguageModel:
    return make_model("fast", served_id="a/fast:free")


def found(model: LanguageModel, kind: str = "", *, minutes: float = 0, **fields: Any) -> Finding:
    at = NOW + timedelta(minutes=minutes)
    return Finding(model.endpoint_id, model.served_id, kind=kind, at=at, **{"said": "It said so.", **fields})


def tell(model: LanguageModel, kind: str = "", **fields: Any) -> None:
    apply_findings([found(model, kind, **fields)])


def known(model: LanguageModel, field: str) -> tuple[Any, str] | None:
    fresh = LanguageModel.objects.get(pk=model.pk)
    know([fresh])
    held = fresh.known.held(field)
    return (held.value, held.source) if held else None


def until(served_id: str = "a/fast:free") -> datetime | None:
    return CoolDown.objects.filter(served_id=served_id).values_list("until", flat=True).first()


def open_alerts() -> list[tuple[str, str]]:
    return list(Alert.objects.filter(resolved_at=None).order_by("id").values_list("kind", "about"))


def test_a_window_told_by_an_overflow_is_learned(fast: LanguageModel) -> None:
    tell(fast, "context_too_long", window=8192, tokens=9000, said="maximum context length is 8192 (provider: Somewhere)")
    assert known(fast, "context_window") == (8192, "learned")
    fact = Fact.objects.get()
    assert (fact.known_since, fact.note) == (NOW, "maximum context length is 8192 (provider: Somewhere)")


def test_windows_only_ever_go_down(fast: LanguageModel) -> None:
    for window, learned in ((8192, 8192), (16_384, 8192), (8192, 8192), (4096, 4096)):
        tell(fast, "context_too_long", window=window, tokens=20_000)
        assert known(fast, "context_window") == (learned, "learned")


@pytest.mark.parametrize(
    ("window", "tokens"),
    [(8192, 8192), (8192, 100), (255, 9000), (20_000_001, 30_000_000), (200_000, 300_000), (131_072, 300_000), (None, 9000)],
)
def test_what_cannot_be_about_size_is_not_believed(fast: LanguageModel, window: int | None, tokens: int) -> None:
    Fact.objects.create(
        endpoint=fast.endpoint,
        served_id=fast.served_id,
        field="context_window",
        source="models_dev",
        value=131_072,
        known_since=NOW,
    )
    tell(fast, "context_too_long", window=window, tokens=tokens)
    assert known(fast, "context_window") == (131_072, "models_dev")


def test_what_is_learned_is_of_one_endpoint_and_one_id(fast: LanguageModel) -> None:
    elsewhere = make_model("elsewhere", served_id=fast.served_id, endpoint=make_endpoint("other"))
    sister, twin = make_model("sister", served_id="a/fast"), make_model("twin", served_id=fast.served_id)
    tell(fast, "context_too_long", window=8192, tokens=9000)
    assert [known(model, "context_window") for model in (elsewhere, sister, twin)] == [None, None, (8192, "learned")]


def test_what_an_operator_set_holds_and_editing_it_forgets_what_was_learned(fast: LanguageModel) -> None:
    tell(fast, "context_too_long", window=8192, tokens=9000)
    fast.role = "code"
    fast.save()
    assert known(fast, "context_window") == (8192, "learned")
    fast.context_window = 32_000
    fast.save()
    assert known(fast, "context_window") == (32_000, "operator")
    assert not Fact.objects.exists()
    tell(fast, "context_too_long", window=8192, tokens=9000)
    assert known(fast, "context_window") == (32_000, "operator")
    fast.context_window = None
    fast.save(update_fields=["context_window"])
    assert known(fast, "context_window") is None


def test_what_an_operator_set_for_one_alias_raises_nothing_that_was_learned_for_another(fast: LanguageModel) -> None:
    make_model("twin", served_id=fast.served_id, context_window=100_000)
    for window in (8192, 16_384):
        tell(fast, "context_too_long", window=window, tokens=20_000)
        assert known(fast, "context_window") == (8192, "learned")


def test_an_output_limit_is_learned_and_no_window_from_it(fast: LanguageModel) -> None:
    tell(fast, "output_limit", output_limit=16_384, tokens=40_000)
    tell(fast, "output_limit", output_limit=32_768, tokens=40_000)
    assert (known(fast, "output_limit"), known(fast, "context_window")) == ((16_384, "learned"), None)


def test_limits_told_in_numbers_are_learned_as_they_were_last_told(
    fast: LanguageModel, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    limits = [
        LimitTold(field="tokens_per_minute", limit=6000),
        LimitTold(field="requests_per_day", limit=50, account=True),
        LimitTold(field="requests_per_minute", limit=0),
        LimitTold(field="requests_per_month", limit=5),
    ]
    tell(fast, limits=limits)
    assert known(fast, "tokens_per_minute") == (6000, "learned")
    assert Fact.objects.get(field="requests_per_day").served_id == "*"
    assert Fact.objects.count() == 2
    with django_assert_max_num_queries(8):
        tell(fast, limits=limits)
    tell(fast, limits=[LimitTold(field="tokens_per_minute", limit=12_000)])
    assert known(fast, "tokens_per_minute") == (12_000, "learned")
    tell(fast, "rate_limited", pattern="*:free", limits=[LimitTold(field="requests_per_day", limit=1000, account=True)])
    assert Fact.objects.get(served_id="*:free").value == 1000


def test_a_raised_limit_ends_the_rest_that_the_lower_one_brought(fast: LanguageModel) -> None:
    tell(fast, limits=[LimitTold(field="requests_per_day", limit=50, remaining=0)])
    assert until() == MIDNIGHT
    tell(fast, limits=[LimitTold(field="requests_per_day", limit=1000, remaining=950)])
    assert until() is None


def test_a_rate_limit_cools_down_until_the_stated_time(fast: LanguageModel) -> None:
    tell(fast, "rate_limited", retry_after=120.0, said="Too\u202emany\nrequests")
    row = CoolDown.objects.get()
    assert (row.served_id, row.until, row.why, row.times) == (
        fast.served_id,
        NOW + timedelta(seconds=120),
        "Too many requests",
        1,
    )


@pytest.mark.parametrize(
    ("fields", "minutes"),
    [
        ({}, 30),
        ({"span": "minute"}, 1),
        ({"span": "day"}, 360),
        ({"span": "day", "retry_after": 520.9}, 520.9 / 60),
        ({"span": "month"}, 24 * 60),
        ({"span": "minute", "retry_after": 7.0}, 7 / 60),
    ],
)
def test_where_no_time_is_stated_the_limits_span_says_how_long(
    fast: LanguageModel, fields: dict[str, Any], minutes: float
) -> None:
    tell(fast, "rate_limited", **fields)
    assert until() == NOW + timedelta(minutes=minutes)


def test_googles_day_ends_at_pacific_midnight() -> None:
    model = make_model("gem", endpoint=make_endpoint("google", provider="google"), served_id="gemini")
    tell(model, "rate_limited", span="day")
    assert until("gemini") == MIDNIGHT + timedelta(hours=8)


def test_refusals_in_a_row_that_state_no_time_double_up_to_a_day_and_an_answer_begins_anew(fast: LanguageModel) -> None:
    minutes = 0.0
    for wait in (30, 60, 120, 240, 480, 960, 1440, 1440):
        tell(fast, "rate_limited", minutes=minutes)
        assert until() == NOW + timedelta(minutes=minutes + wait)
        minutes += wait
    tell(fast, minutes=minutes)
    assert not CoolDown.objects.exists()
    tell(fast, "rate_limited", minutes=minutes)
    assert until() == NOW + timedelta(minutes=minutes + 30)


def test_calls_that_were_under_way_when_the_rest_began_do_not_make_it_longer(fast: LanguageModel) -> None:
    for minutes in (0, 1, 2):
        tell(fast, "rate_limited", minutes=minutes)
    row = CoolDown.objects.get()
    assert (row.times, row.until) == (1, NOW + timedelta(minutes=32))
    tell(fast, "rate_limited", minutes=3, retry_after=5.0)
    # An answer that comes late says nothing about the next call.
    tell(fast, minutes=4)
    assert until() == NOW + timedelta(minutes=32)


def test_a_whole_account_waits_where_the_refusal_was_about_it(fast: LanguageModel) -> None:
    other, paid = make_model("other", served_id="b/other:free"), make_model("paid", served_id="b/other")
    at = datetime.now(UTC)
    apply_findings([Finding(fast.endpoint_id, fast.served_id, at=at, kind="rate_limited", pattern="*:free", retry_after=900.0)])
    roster = RosterKeeper().current()
    assert [roster.cool_down_of(model) is None for model in (fast, other, paid)] == [False, False, True]


def test_overload_and_what_is_the_requests_own_fault_cool_nobody_down(fast: LanguageModel) -> None:
    for kind in ("overloaded", "timeout", "refused", "bad_reply", "unavailable", "not_found", "no_access", "interrupted"):
        tell(fast, kind, retry_after=30.0)
        assert not is_news(found(fast, kind), RosterKeeper().current())
    tokens = [LimitTold(field="tokens_per_minute", limit=6000)]
    tell(fast, "rate_limited", span="minute", tokens=12_328, limits=tokens)
    assert not CoolDown.objects.exists()
    assert known(fast, "tokens_per_minute") == (6000, "learned")
    assert known(fast, "context_window") is None
    tell(fast, "rate_limited", span="minute", tokens=1000, limits=tokens)
    assert CoolDown.objects.exists()


def test_out_of_money_rests_for_a_day_and_a_model_believed_free_went_paid(fast: LanguageModel) -> None:
    paid, zero = make_model("paid", served_id="a/paid"), make_model("zero", served_id="a/zero")
    for field in ("price_in", "price_out"):
        Fact.objects.create(
            endpoint=zero.endpoint, served_id=zero.served_id, field=field, source="models_dev", value=0, known_since=NOW
        )
    for model in (fast, paid, zero):
        tell(model, "payment_required", retry_after=60.0)
        assert until(model.served_id) == NOW + timedelta(days=1)
    assert open_alerts() == [("went_paid", fast.served_id), ("went_paid", zero.served_id)]
    assert "was believed free and asks for money: It said so." in Alert.objects.earliest("id").message


def test_a_plan_that_is_used_up_did_not_go_paid() -> None:
    planned = make_model("planned", served_id="a/planned")
    for field, value in (("price_in", 0), ("price_out", 0), ("free", "plan")):
        Fact.objects.create(
            endpoint=planned.endpoint, served_id="a/planned", field=field, source="models_dev", value=value, known_since=NOW
        )
    tell(planned, "payment_required")
    assert until("a/planned") == NOW + timedelta(days=1)
    assert open_alerts() == []


def test_a_rejected_key_is_told_once_until_an_answer_of_that_endpoint(fast: LanguageModel) -> None:
    other = make_model("other", served_id="a/other")
    stranger = make_model("stranger", endpoint=make_endpoint("elsewhere"))
    tell(fast, "unauthorized"), tell(other, "unauthorized")
    assert open_alerts() == [("key_rejected", "")]
    roster = RosterKeeper().current()
    assert (is_news(found(other), roster), is_news(found(stranger), roster)) == (True, False)
    tell(other)
    assert open_alerts() == []


def test_a_model_that_its_provider_retired_is_retired_at_once_with_the_reason(fast: LanguageModel) -> None:
    twin = make_model("twin", served_id=fast.served_id, status="ad_hoc")
    tell(fast, "retired", said="It reached its end of life on 2026-11-01.")
    for model in (fast, twin):
        model.refresh_from_db()
        assert (model.status, model.retired_why) == (
            "retired",
            "Its provider said so: It reached its end of life on 2026-11-01.",
        )
    assert open_alerts() == [("gone", fast.served_id)]
    change = Change.objects.latest("id")
    assert change.made_by == "what its provider answered"
    assert ("status", "ad_hoc", "retired") in change.differences


def test_a_model_that_may_be_gone_is_retired_when_two_requests_within_an_hour_find_it_so(fast: LanguageModel) -> None:
    tell(fast, "maybe_gone", request="p1")
    tell(fast, "maybe_gone", request="p1", minutes=5)
    tell(fast, "maybe_gone", request="p2", minutes=61)
    fast.refresh_from_db()
    assert fast.status == "active"
    tell(fast, "maybe_gone", request="p3", minutes=90)
    fast.refresh_from_db()
    assert (fast.status, fast.retired_why) == ("retired", "2 requests within an hour found it gone: It said so.")
    assert not Doubt.objects.exists()


def test_an_answer_in_between_ends_the_doubt(fast: LanguageModel) -> None:
    for request, kind in (("p1", "maybe_gone"), ("p2", ""), ("p3", "maybe_gone")):
        tell(fast, kind, request=request)
    fast.refresh_from_db()
    assert fast.status == "active"
    assert Doubt.objects.count() == 1


def test_what_a_person_switched_off_stays_as_they_left_it(fast: LanguageModel) -> None:
    set_status([fast], "retired")
    before = Change.objects.count()
    for kind in ("retired", "maybe_gone", "", "payment_required"):
        for request in ("p1", "p2"):
            tell(fast, kind, request=request)
    fast.refresh_from_db()
    assert (fast.status, fast.retired_why) == ("retired", "")
    assert Change.objects.count() == before
    assert ("gone", fast.served_id) not in open_alerts()


@pytest.mark.parametrize("status", LanguageModel.Status.values)
def test_one_click_brings_a_model_back_to_what_it_was(fast: LanguageModel, status: str) -> None:
    set_status([fast], status)
    account = CoolDown.objects.create(endpoint=fast.endpoint, served_id="*", until=MIDNIGHT, since=NOW, why="all of it")
    tell(fast, "payment_required")
    tell(fast, "retired")
    tell(fast, "maybe_gone", request="p1")
    fast.refresh_from_db()
    assert fast.status == "retired"
    retirement.restore(fast)
    fast.refresh_from_db()
    assert (fast.status, fast.retired_why) == (status if status != "retired" else "active", "")
    assert (Doubt.objects.count(), open_alerts(), CoolDown.objects.get()) == (0, [], account)


def test_a_status_that_a_person_sets_is_their_word_from_then_on(fast: LanguageModel) -> None:
    tell(fast, "retired")
    fast.refresh_from_db()
    fast.alias = "faster"
    fast.save()
    assert fast.retired_why
    fast.status = "active"
    fast.save()
    fast.refresh_from_db()
    assert fast.retired_why == ""


def test_an_ordinary_answer_costs_no_query(fast: LanguageModel, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    other = make_model("other")
    keeper = RosterKeeper()
    tell(other, "maybe_gone", request="p1")
    roster = keeper.current()
    with django_assert_num_queries(0):
        assert not is_news(found(fast), roster)
        assert is_news(found(other), roster)
        assert is_news(found(fast, limits=[LimitTold(field="requests_per_day", limit=9)]), roster)
    tell(other)
    assert not is_news(found(other), keeper.current())


def test_one_finding_that_cannot_be_acted_on_costs_no_other(
    fast: LanguageModel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Finding) -> None:
        Doubt.objects.create(endpoint=fast.endpoint, served_id="half", request="x", at=NOW, said="")
        raise ValueError("odd")

    monkeypatch.setattr(applying, "FOLLOWS", {**applying.FOLLOWS, "refused": broken})
    apply_findings([found(fast, "refused"), found(fast, "rate_limited")])
    assert (CoolDown.objects.count(), Doubt.objects.count()) == (1, 0)
    assert "could not be acted on" in caplog.text


def test_what_is_over_is_pruned_and_what_still_counts_stays(fast: LanguageModel) -> None:
    endpoint = fast.endpoint
    spans = [
        ("minute", timedelta(minutes=59)),
        ("minute", timedelta(minutes=61)),
        ("day", timedelta(39)),
        ("day", timedelta(41)),
    ]
    for span, age in spans:
        Usage.objects.create(endpoint=endpoint, served_id="x", span=span, start=NOW - age)
    for hours in (23, 25):
        over = NOW - timedelta(hours=hours)
        CoolDown.objects.create(endpoint=endpoint, served_id=f"x{hours}", until=over, since=over, why="")
        Alert.objects.create(kind="quota_low", endpoint=endpoint, about=f"{hours}", opened_at=over)
    CoolDown.objects.create(endpoint=endpoint, served_id="waits", until=MIDNIGHT, since=NOW, why="")
    Alert.objects.create(kind="quota_low", endpoint=endpoint, about="today", opened_at=NOW)
    for minutes in (59, 61):
        Doubt.objects.create(
            endpoint=endpoint, served_id="x", request=f"p{minutes}", at=NOW - timedelta(minutes=minutes), said=""
        )
    for days, field in ((89, "output_limit"), (91, "context_window"), (91, "requests_per_day")):
        Fact.objects.create(
            endpoint=endpoint, served_id="x", field=field, source="learned", value=300, known_since=NOW - timedelta(days)
        )
    assert prune_health(NOW) == 5
    assert sorted(Usage.objects.values_list("span", "start")) == [
        ("day", NOW - timedelta(39)),
        ("minute", NOW - timedelta(minutes=59)),
    ]
    assert set(CoolDown.objects.values_list("served_id", flat=True)) == {"x23", "waits"}
    assert Doubt.objects.get().request == "p59"
    assert set(Fact.objects.values_list("field", flat=True)) == {"output_limit", "requests_per_day"}
    assert open_alerts() == [("quota_low", "today")]
    assert prune_health(NOW) == 0


def test_what_was_counted_by_a_clock_that_was_put_back_since_is_forgotten(fast: LanguageModel) -> None:
    for name, ahead in (("soon", timedelta(minutes=50)), ("far", timedelta(days=400))):
        Usage.objects.create(endpoint=fast.endpoint, served_id=name, span="minute", start=NOW + ahead, requests=1)
        CoolDown.objects.create(endpoint=fast.endpoint, served_id=name, since=NOW + ahead, until=NOW + 2 * ahead, why="")
    assert prune_health(NOW) == 2
    assert (Usage.objects.get().served_id, CoolDown.objects.get().served_id) == ("soon", "soon")
