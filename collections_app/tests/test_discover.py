"""Discover: what is worth adding comes first, each model once, and with what is here of it already."""

from typing import Any

import pytest

from collections_app.catalog.discover import ON_A_PAGE, Wanted, discover
from collections_app.tests.listed import list_model, no_keys  # noqa: F401 - a fixture
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_keys")]


def found(**wanted: Any) -> list[str]:
    return [line.candidate.served_id for line in discover(Wanted(**wanted)).lines]


def test_the_free_come_first_and_a_plans_not_at_all_unless_asked_for() -> None:
    list_model("paid", price_in=1.0, price_out=2.0)
    list_model("local", free="local")
    list_model("unpriced")
    list_model("quota", free="quota")
    list_model("zero", free="zero")
    list_model("subscribed", free="plan")
    assert found() == ["zero", "quota", "local", "paid", "unpriced"]
    assert found(free="free") == ["zero", "quota", "local"]
    assert found(free="plan") == ["subscribed"]
    assert found(free="paid") == ["paid", "unpriced"]


def test_one_model_of_several_catalogs_is_one_line_with_what_each_knows() -> None:
    list_model("a-model", source="freellmapi", free="quota", context_window=8_192, requests_per_day=50, vision=True)
    list_model("a-model", context_window=131_072, price_in=0.1, vision=False)
    list_model("a-model", provider="openrouter", source="openrouter")
    lines = {line.candidate.provider: line.candidate for line in discover(Wanted()).lines}
    one = lines["groq"]
    assert one.sources == ("models_dev", "freellmapi")
    assert (one.context_window, one.free, one.requests_per_day, one.vision) == (131_072, "quota", 50, False)
    assert lines["openrouter"].sources == ("openrouter",)
    assert len(lines) == 2


def test_what_is_gone_deprecated_or_no_chat_model_is_not_worth_adding() -> None:
    list_model("good")
    list_model("gone", gone_at="2026-01-01T00:00Z")
    list_model("embeds", kind="other")
    list_model("routes", kind="router")
    list_model("decides", kind="decision")
    list_model("deprecated")
    list_model("deprecated", source="freellmapi", deprecated=True)
    list_model("retired-service", provider="github-models")
    assert found() == ["good"]


def test_a_model_is_on_the_bench_at_its_own_endpoint_and_elsewhere_at_another() -> None:
    list_model("openai/gpt-oss-120b")
    list_model("openai/gpt-oss-120b:free", provider="openrouter")
    list_model("qwen3-32b")
    make_model("oss", served_id="openai/gpt-oss-120b", endpoint=make_endpoint("mine", provider="groq"))
    lines = {(line.candidate.provider, line.candidate.served_id): line for line in discover(Wanted()).lines}
    at_groq, at_openrouter = lines["groq", "openai/gpt-oss-120b"], lines["openrouter", "openai/gpt-oss-120b:free"]
    assert (at_groq.here, at_groq.elsewhere) == (("oss",), ())
    assert (at_openrouter.here, at_openrouter.elsewhere) == ((), ("oss",))
    assert (lines["groq", "qwen3-32b"].here, lines["groq", "qwen3-32b"].elsewhere) == ((), ())


def test_a_provider_is_reached_by_an_endpoint_or_by_a_key_whose_name_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    list_model("a", free="zero", provider="cerebras")
    list_model("b", free="zero")
    list_model("c", free="zero", provider="mistral")
    # By its URL: the endpoint need not say whose it is.
    make_endpoint("gr", base_url="https://api.groq.com/openai/v1")
    monkeypatch.setenv("MISTRAL_API_KEY", "a-secret-of-mine")
    page = discover(Wanted())
    reach = {line.candidate.provider: line.reach for line in page.lines}
    assert [endpoint.name for endpoint in reach["groq"].endpoints] == ["gr"]
    assert reach["mistral"].keys == ("MISTRAL_API_KEY",)
    assert not reach["cerebras"].is_there
    assert found(reachable=True) == ["b", "c"]
    assert found()[-1] == "a", "what cannot be reached comes after what can"
    assert "a-secret-of-mine" not in repr(page)


def test_filters_let_through_what_is_known_to_fit() -> None:
    list_model("sees", vision=True, context_window=8_000, name="Second Sight")
    list_model("works", tools=True, context_window=128_000, family="worker")
    list_model("unknown")
    list_model("elsewhere", provider="openrouter", vision=True, tools=True, context_window=200_000)
    assert found(vision=True) == ["sees", "elsewhere"]
    assert found(tools=True, provider="groq") == ["works"]
    assert found(window=100_000) == ["works", "elsewhere"]
    assert found(text="second SIGHT") == ["sees"]
    assert found(text="groq worker") == ["works"]
    assert found(text="no such thing") == []


def test_families_of_the_bench_can_be_left_out_unless_they_sit_no_more() -> None:
    list_model("llama-3.1-8b-instruct")
    list_model("qwen3-32b")
    list_model("gemma-3-27b-it")
    make_model("mine", served_id="llama-3.3-70b")
    make_model("old", served_id="gemma-2-9b", status="retired")
    assert found(new_family=True) == ["gemma-3-27b-it", "qwen3-32b"]


def test_it_is_sorted_as_asked() -> None:
    list_model("b", name="Bee", price_out=3.0, context_window=100, released="2026-01-02")
    list_model("a", name="Zed", price_out=None, context_window=300, released="2026-03")
    list_model("c", name="ant", price_out=0.5, context_window=None, released="")
    assert found(order="newest") == ["a", "b", "c"]
    assert found(order="window") == ["a", "b", "c"]
    assert found(order="price") == ["c", "b", "a"]
    assert found(order="name") == ["c", "b", "a"]
    assert found(order="no such order") == found()


def test_pages_hold_every_model_once_and_past_the_last_comes_the_last() -> None:
    for number in range(ON_A_PAGE + 3):
        list_model(f"model-{number:02}")
    first, second, beyond = (discover(Wanted(page=page)) for page in (1, 2, 99))
    assert (len(first.lines), len(second.lines), first.pages, first.total) == (ON_A_PAGE, 3, 2, ON_A_PAGE + 3)
    assert beyond == second
    assert len({line.candidate.key for line in (*first.lines, *second.lines)}) == ON_A_PAGE + 3
    assert first.counted == "53 models, 1 to 50 are shown."
    assert dict(first.providers) == {"groq": ON_A_PAGE + 3}


def test_before_any_catalog_has_been_read_there_is_what_shipped() -> None:
    page = discover(Wanted(free="free"))
    assert page.total > 100
    assert {"groq", "openrouter"} <= page.providers.keys()
    list_model("the-first-that-was-read", free="zero")
    assert found() == ["the-first-that-was-read"]
