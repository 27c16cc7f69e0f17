"""A month of a free account, and shorter times of any account, beside a ledger that is kept by hand: the two always agree."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collections_app.models import Alert, CoolDown, Usage
from collections_app.models.health import Quota, covers
from collections_app.services.quotas import Claim, LimitTold, Refused, Reservation, correct, reserve, settle
from collections_app.services.quotas.counting import end_of_moment
from collections_app.tests.rosters import make_endpoint

pytestmark = pytest.mark.django_db
BEGINS = datetime(2026, 10, 20, tzinfo=UTC)
MINUTE = timedelta(seconds=60)


@dataclass
class Sent:
    """A call that went out, and what it takes: the estimate, until it is known better."""

    at: datetime
    model: str
    tokens: int


@dataclass
class ByHand:
    """What the ledger should know: every call, looked through again each time."""

    quotas: dict[str, tuple[Quota, ...]]
    sent: list[Sent] = field(default_factory=list)

    def drawn(self, quota: Quota, unit: str, span: str, now: datetime) -> int:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)

        def counts(call: Sent) -> bool:
            # A call of this minute is one as of the end of its tenth of a second.
            return call.at >= midnight if span == "day" else end_of_moment(call.at) > now - MINUTE

        calls = [call for call in takewhile(counts, reversed(self.sent)) if covers(quota.pattern, call.model)]
        return len(calls) if unit == "requests" else sum(call.tokens for call in calls)

    def fits(self, model: str, tokens: int, now: datetime) -> bool:
        for quota in self.quotas[model]:
            for name, limit in quota.limits():
                unit, _, span = name.split("_")
                if self.drawn(quota, unit, span, now) + (1 if unit == "requests" else tokens) > limit:
                    return False
        return True


@dataclass
class Account:
    """One account that is asked by the clock that it is given; `by_hand` says what should come of it."""

    endpoint: int
    by_hand: ByHand

    def rests(self, model: str, now: datetime) -> bool:
        return any(covers(rest.served_id, model) for rest in CoolDown.objects.filter(endpoint=self.endpoint, until__gt=now))

    def ask(self, model: str, tokens: int, now: datetime) -> tuple[Sent, Reservation] | None:
        """Ask as a seat does: unless the model rests, when its limits have room. It goes out exactly when it fits."""
        fits = self.by_hand.fits(model, tokens, now)
        if self.rests(model, now):
            # Who rests could not have been asked for even one token.
            assert not self.by_hand.fits(model, 0, now) or not self.by_hand.fits(model, 1, now)
            return None
        claim = Claim(endpoint_id=self.endpoint, quotas=self.by_hand.quotas[model], tokens=tokens)
        answer = reserve(claim, now=now)
        assert isinstance(answer, Reservation) == fits, (model, tokens, now, answer)
        if isinstance(answer, Refused):
            if answer.until:
                assert self.by_hand.fits(model, tokens, answer.until)
                assert not self.by_hand.fits(model, tokens, answer.until - timedelta(microseconds=1))
            return None
        sent = Sent(now, model, tokens)
        self.by_hand.sent.append(sent)
        return sent, answer


@pytest.fixture
def endpoint() -> int:
    return make_endpoint().pk


def arrivals(chance: random.Random, days: int) -> Iterator[tuple[datetime, str, int]]:
    """Calls as people make them: now and then a burst, most of it by day."""
    now = BEGINS
    while now < BEGINS + timedelta(days=days):
        for _ in range(chance.choice((1, 1, 2, 5, 12))):
            yield now, f"{chance.choice('abc')}:free", chance.choice((200, 900, 3000, 7000))
            now += timedelta(seconds=chance.choice((0.2, 1.0, 7.0)))
        now += timedelta(minutes=chance.uniform(1, 90 if 7 <= now.hour < 23 else 300))


def test_a_month_of_a_free_account(endpoint: int) -> None:
    chance = random.Random(5)
    account = Quota(pattern="*:free", requests_per_day=50, requests_per_minute=20)
    own = {
        "a:free": Quota(pattern="a:free", requests_per_day=20),
        "b:free": Quota(pattern="b:free", tokens_per_minute=8000, tokens_per_day=60_000),
        "c:free": Quota(pattern="c:free", requests_per_minute=3),
    }
    free = Account(endpoint, ByHand({model: (quota, account) for model, quota in own.items()}))
    under_way: list[tuple[datetime, Sent, Reservation]] = []
    tried = 0
    for now, model, tokens in arrivals(chance, 30):
        for ends, sent, reservation in [call for call in under_way if call[0] <= now]:
            sent.tokens = chance.randint(50, reservation.claim.tokens * 5 // 4)
            settle(reservation, sent.tokens, now=ends)
        under_way = [call for call in under_way if call[0] > now]
        tried += 1
        asked = free.ask(model, tokens, now)
        if asked:
            under_way.append((now + timedelta(seconds=chance.uniform(0.5, 40)), *asked))
    went = len(free.by_hand.sent)
    # The month was worth simulating: many were refused, on full days too, and many went out.
    days = [sum(call.at.date() == (BEGINS + timedelta(days=day)).date() for call in free.by_hand.sent) for day in range(30)]
    assert max(days) == 50
    assert went > 1000
    assert tried > went + 200


def test_what_others_draw_on_the_account_is_kept_to_as_soon_as_a_reply_tells(endpoint: int) -> None:
    chance = random.Random(7)
    quota = Quota(pattern="*:free", requests_per_day=50)
    ours = others = 0
    left, today = 50, BEGINS.date()
    for now, model, _ in arrivals(chance, 8):
        if now.date() != today:
            ours, others, left, today = 0, 0, 50, now.date()
        others += chance.random() < 0.4
        if CoolDown.objects.filter(endpoint=endpoint, until__gt=now).exists():
            assert left == 0
            continue
        answer = reserve(Claim(endpoint_id=endpoint, quotas=(quota,), tokens=0), now=now)
        assert isinstance(answer, Reservation) == (left > 0)
        if isinstance(answer, Reservation):
            ours += 1
            left = max(0, min(left - 1, 50 - ours - others))
            told = LimitTold(field="requests_per_day", limit=50, remaining=left, account=True)
            correct(endpoint, [(told.pattern(model, "*:free"), told)], now)


limits = st.one_of(st.none(), st.integers(1, 6))
token_limits = st.one_of(st.none(), st.integers(1, 3000))
calls = st.tuples(
    st.sampled_from(("a:free", "b:free", "c")),
    st.sampled_from((0.0, 0.001, 1.0, 19.0, 59.999, 60.0, 61.0, 3600.0, 43_200.0)),
    st.integers(0, 2000),
    st.one_of(st.none(), st.integers(0, 2500)),
)


def quota(pattern: str) -> st.SearchStrategy[Quota]:
    return st.builds(
        Quota,
        pattern=st.just(pattern),
        requests_per_minute=limits,
        requests_per_day=limits,
        tokens_per_minute=token_limits,
        tokens_per_day=token_limits,
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(free=quota("*:free"), every=quota("*"), own=quota("a:free"), asked=st.lists(calls, min_size=5, max_size=25))
def test_any_account_at_any_time(
    endpoint: int, free: Quota, every: Quota, own: Quota, asked: list[tuple[str, float, int, int | None]]
) -> None:
    for rows in (Usage, CoolDown, Alert):
        rows.objects.all().delete()
    quotas = {"a:free": (own, free, every), "b:free": (free, every), "c": (every,)}
    account, now = Account(endpoint, ByHand(quotas)), BEGINS
    for model, gap, tokens, took in asked:
        now += timedelta(seconds=gap)
        sent = account.ask(model, tokens, now)
        if sent and took is not None:
            sent[0].tokens = took
            settle(sent[1], took, now=now)
