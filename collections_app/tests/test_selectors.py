"""The roster as a panel reads it: who is asked for, who sits, who may explore; few queries, however large the bench."""

import pytest
from pytest_django import DjangoAssertNumQueries

from collections_app import selectors
from collections_app.models import Collection, LanguageModel, Limits
from collections_app.tests.rosters import make_collection, make_model

pytestmark = pytest.mark.django_db


def test_every_collection_is_read_in_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    models = [make_model(f"model-{number}") for number in range(4)]
    for number in range(5):
        make_collection(f"collection-{number}", *models, merger=models[0])
    with django_assert_num_queries(2):
        collections = selectors.all_collections()
        members = [[model.endpoint.base_url for model in selectors.members_of(one)] for one in collections]
        assert [str(one.merger) for one in collections] == ["model-0"] * 5
    assert [len(row) for row in members] == [4] * 5


def test_members_keep_the_order_they_were_given() -> None:
    models = [make_model(alias) for alias in ("zeta", "alpha", "mid")]
    assert selectors.members_of(make_collection("core", *models)) == models


def test_active_models_are_read_with_their_endpoints(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for status in LanguageModel.Status.values:
        make_model(f"{status.replace('_', '-')}-model", status=status)
    make_model("coder", role="code")
    make_model("router", served_id="openrouter/auto")
    make_model("named-router", served_id="openrouter/free", family=["llama"])
    with django_assert_num_queries(1):
        active = [(model.alias, model.endpoint.name) for model in selectors.active_models()]
    assert active == [("active-model", "upstream"), ("coder", "upstream"), ("named-router", "upstream")]


def test_together_is_what_every_member_has() -> None:
    wide = LanguageModel(context_window=200_000, vision=True, tools=True)
    narrow = LanguageModel(context_window=8_192, vision=True, tools=False)
    unknown = LanguageModel(vision=True)
    assert selectors.together([wide, narrow, unknown]) == selectors.Together(8_192, ("vision",))
    assert selectors.together([wide]) == selectors.Together(200_000, ("vision", "tools"))
    assert selectors.together([unknown, LanguageModel()]) == selectors.Together(None, ())
    assert selectors.together([]) == selectors.Together(None, ())


def test_the_nearest_aliases_are_named(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for alias in ("gpt-oss-120b", "gpt-oss-20b", "qwen3-coder", "deepseek-r1"):
        make_model(alias)
    with django_assert_num_queries(1):
        assert selectors.nearest_aliases("gpt-oss-12b")[:2] == ["gpt-oss-120b", "gpt-oss-20b"]
    assert selectors.nearest_aliases("QWEN3_coder") == ["qwen3-coder"]
    assert selectors.nearest_aliases("coder") == ["qwen3-coder"]
    assert selectors.nearest_aliases("zzz") == []
    assert selectors.nearest_aliases("x" * 100_000) == []


@pytest.mark.parametrize(
    ("members", "sum_"),
    [
        (0, "no members + 2 explorers = 2 seats"),
        (1, "1 member + 2 explorers = 3 seats"),
        (3, "3 members + 2 explorers = 5 seats"),
        (4, "4 members + 1 explorer = 5 seats"),
        (5, "5 members + no explorers = 5 seats"),
        (9, "9 members + no explorers = 9 seats"),
    ],
)
def test_the_sum_of_seats_is_said_in_words(members: int, sum_: str) -> None:
    assert selectors.seat_arithmetic(members, Limits()) == sum_


def test_a_bench_without_a_row_of_limits_has_the_shipped_ones() -> None:
    Limits.objects.all().delete()
    limits = selectors.current_limits()
    assert (limits.max_calls, limits.max_explorers) == (5, 2)


def _lines(*rows: str) -> list[LanguageModel]:
    return [LanguageModel(alias=f"model-{number}", served_id=served_id) for number, served_id in enumerate(rows)]


def _advice(members: list[LanguageModel]) -> list[str]:
    return [advice.word for advice in selectors.membership_advice(members)]


def test_a_good_collection_needs_no_advice() -> None:
    assert _advice(_lines("llama-3.3-70b", "qwen3-32b", "gemma-4")) == []


@pytest.mark.parametrize(("count", "word"), [(0, "few members"), (1, "few members"), (5, "many members")])
def test_two_to_four_members_are_recommended(count: int, word: str) -> None:
    models = _lines(*["llama-3.3", "qwen3", "gemma-4", "kimi-k2", "glm-5"][:count])
    (advice,) = selectors.membership_advice(models)
    assert advice.word == word
    assert advice.why.startswith("2 to 4 members are recommended")


def test_members_of_one_family_fail_together() -> None:
    (advice,) = selectors.membership_advice(_lines("llama-3.3-70b", "deepseek-r1-distill-llama-70b"))
    assert advice.why == "All members are of one family (llama): they tend to fail together."
    assert _advice(_lines("llama-3.3", "deepseek-r1-distill-llama-70b", "deepseek-chat")) == []


def test_a_retired_member_does_not_count() -> None:
    members = _lines("llama-3.3", "qwen3")
    members[1].status = LanguageModel.Status.RETIRED
    assert _advice(members) == ["few members"]


def test_a_collection_says_how_it_is_asked_for() -> None:
    assert str(Collection(name="core")) == "bench/core"
