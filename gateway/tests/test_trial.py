"""Trying models that were just added: who answered, who did not and what to do, and who need not be asked any more."""

from collections.abc import Iterator
from threading import Event

import pytest

from collections_app.catalog.onboarding.trying import Tried, trial
from collections_app.models import LanguageModel
from collections_app.tests.rosters import make_endpoint, make_model
from gateway.tests.fake_upstream import FakeUpstream
from gateway.workers.trial import LONGEST_SHOWN, MOST_TOKENS

pytestmark = pytest.mark.django_db


@pytest.fixture
def upstream() -> Iterator[FakeUpstream]:
    """One that nobody has asked yet."""
    with FakeUpstream() as fake:
        yield fake


def made(upstream: FakeUpstream, *served_ids: str, name: str = "upstream", **fields: str) -> list[LanguageModel]:
    endpoint = make_endpoint(name, base_url=upstream.url, **fields)
    return [make_model(f"{name}-{n}", served_id=served_id, endpoint=endpoint) for n, served_id in enumerate(served_ids)]


def tried(models: list[LanguageModel]) -> dict[str, Tried]:
    return {one.model.served_id: one for one in trial()(models, Event())}


def test_it_tells_who_answered_how_fast_and_why_another_did_not(upstream: FakeUpstream) -> None:
    outcomes = tried(made(upstream, "say-ready", "err-404", "err-402"))
    assert (outcomes["say-ready"].outcome, outcomes["say-ready"].said) == ("answered", "ready")
    assert 0 < outcomes["say-ready"].seconds < 30
    assert (outcomes["err-404"].outcome, outcomes["err-404"].kind) == ("failed", "maybe_gone")
    assert "does not exist" in outcomes["err-404"].said
    assert "retire it" in outcomes["err-404"].to_do
    assert "credit" in outcomes["err-402"].to_do
    assert [request.body["max_tokens"] for request in upstream.seen.requests] == [MOST_TOKENS] * 3


def test_after_a_key_that_is_refused_nobody_else_of_that_endpoint_is_asked(upstream: FakeUpstream) -> None:
    wrong = made(upstream, "err-401", "say-one", "say-two")
    right = made(upstream, "say-three", name="another")
    outcomes = tried([*wrong, *right])
    assert outcomes["err-401"].outcome == "failed"
    assert [outcomes[name].outcome for name in ("say-one", "say-two")] == ["not tried", "not tried"]
    assert outcomes["say-one"].to_do == outcomes["err-401"].to_do
    assert outcomes["say-three"].outcome == "answered"
    assert {request.body["model"] for request in upstream.seen.requests} == {"err-401", "say-three"}


def test_one_rate_limit_is_one_models_and_two_in_a_row_are_the_endpoints(upstream: FakeUpstream) -> None:
    outcomes = tried(made(upstream, "err-429-20", "say-one", "err-429-21", "err-429-22", "say-two"))
    assert [outcomes[name].outcome for name in ("say-one", "err-429-22", "say-two")] == ["answered", "failed", "not tried"]


def test_a_model_that_only_thinks_or_says_nothing_was_called_all_the_same(upstream: FakeUpstream) -> None:
    outcomes = tried(made(upstream, "length-reasoning", "empty"))
    assert {one.outcome for one in outcomes.values()} == {"answered"}
    assert all(one.said for one in outcomes.values())


def test_a_missing_key_is_told_by_its_variables_name(upstream: FakeUpstream) -> None:
    outcomes = tried(made(upstream, "say-one", api_key_env="A_KEY_THAT_IS_NOT_SET"))
    assert "A_KEY_THAT_IS_NOT_SET is not set" in outcomes["say-one"].said
    assert not upstream.seen.requests


def test_what_a_model_says_is_cut_and_its_lines_are_one(upstream: FakeUpstream) -> None:
    outcomes = tried(made(upstream, f"say-{'x' * 150}"))
    (said,) = (one.said for one in outcomes.values())
    assert len(said) == LONGEST_SHOWN + 1
    assert said.endswith("…")


def test_whoever_leaves_in_the_middle_has_no_more_models_asked(upstream: FakeUpstream) -> None:
    left = Event()
    outcomes = trial()(made(upstream, "say-one", "slow-0.3", "say-two"), left)
    assert next(outcomes).said == "one"
    left.set()
    assert [(one.model.served_id, one.outcome) for one in outcomes] == [("slow-0.3", "answered"), ("say-two", "not tried")]
    assert "say-two" not in upstream.seen.stats
