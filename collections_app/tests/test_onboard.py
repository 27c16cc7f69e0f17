"""Onboarding's rows: who is offered, an endpoint from a provider's data, models from what is listed."""

import pytest

from collections_app.catalog.onboarding.adding import CannotAddError, add_models, endpoint_at, endpoint_for
from collections_app.catalog.onboarding.candidates import Candidate
from collections_app.catalog.onboarding.offers import key_found, offers, providers
from collections_app.catalog.onboarding.probe_local import LocalServer
from collections_app.catalog.onboarding.serving import served_at
from collections_app.models import CatalogEntry, Endpoint, Fact, LanguageModel
from collections_app.tests.listed import list_model, no_keys  # noqa: F401 - a fixture
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_keys")]


def test_providers_whose_keys_are_here_come_first_and_plans_last() -> None:
    offered = offers({"MISTRAL_API_KEY": "a-secret", "GROQ_API_KEY": " ", "ALIBABA_CODING_PLAN_API_KEY": "x"})
    assert [offer.provider.id for offer in key_found(offered)] == ["mistral"]
    assert offered[0].provider.id == "mistral"
    assert offered[0].reach.keys == ("MISTRAL_API_KEY",)
    assert offered[-1].provider.plan_like
    assert "a-secret" not in repr(offered)
    counts = {offer.provider.id: (offer.free, offer.models) for offer in offered}
    assert counts["groq"][0] > 0, "what shipped knows Groq's free models"


def test_what_is_on_this_machine_and_what_is_no_more_is_not_offered() -> None:
    offered = {offer.provider.id for offer in offers({"GITHUB_TOKEN": "x"})}
    assert not offered & {"github-models", "lmstudio", "atomic-chat"}
    assert "github-models" not in providers()
    assert len(offered) > 150


def test_a_variable_that_is_the_servers_own_or_that_no_shell_has_is_no_key() -> None:
    offered = {
        offer.provider.id: offer for offer in offers({"302AI_API_KEY": "x", "GEMINI_API_KEY": "x", "GOOGLE_API_KEY": "x"})
    }
    assert offered["302ai"].reach.keys == ()
    assert set(offered["google"].reach.keys) == {"GEMINI_API_KEY", "GOOGLE_API_KEY"}


def test_an_endpoint_is_made_of_its_providers_data_and_of_the_key_that_is_set() -> None:
    endpoint = endpoint_for(providers()["google"], environ={"GEMINI_API_KEY": "a-secret"})
    assert endpoint.name == "google"
    assert endpoint.base_url == "https://generativelanguage.googleapis.com/v1beta/openai"
    assert (endpoint.protocol, endpoint.provider, endpoint.api_key_env) == ("openai_chat", "google", "GEMINI_API_KEY")
    assert endpoint_for(providers()["google"], environ={}) == endpoint
    assert Endpoint.objects.count() == 1


def test_without_a_key_the_endpoint_names_the_variable_that_would_hold_it() -> None:
    assert endpoint_for(providers()["groq"], environ={}).api_key_env == "GROQ_API_KEY"


def test_what_a_url_needs_is_taken_from_the_environment_or_asked_for() -> None:
    provider = providers()["cloudflare-workers-ai"]
    with pytest.raises(CannotAddError, match="CLOUDFLARE_ACCOUNT_ID"):
        endpoint_for(provider, environ={})
    given = endpoint_for(provider, {"CLOUDFLARE_ACCOUNT_ID": "0123abc"}, environ={"CLOUDFLARE_API_KEY": "x"})
    assert given.base_url == "https://api.cloudflare.com/client/v4/accounts/0123abc/ai/v1"
    found = endpoint_for(provider, environ={"CLOUDFLARE_ACCOUNT_ID": "4567def", "CLOUDFLARE_API_TOKEN": "x"})
    assert found.base_url == "https://api.cloudflare.com/client/v4/accounts/4567def/ai/v1"
    assert (given.name, found.name) == ("cloudflare-workers-ai", "cloudflare-workers-ai-2")
    assert found.api_key_env == "CLOUDFLARE_API_TOKEN"


@pytest.mark.parametrize(
    "value", ["../../evil", "a b", "x?y=z", "x#y", "https://evil.example@real", "\u202e", "x" * 300, "a\n"]
)
def test_what_would_make_another_url_is_no_account(value: str) -> None:
    with pytest.raises(CannotAddError):
        endpoint_for(providers()["cloudflare-workers-ai"], {"CLOUDFLARE_ACCOUNT_ID": value}, environ={})
    assert not Endpoint.objects.exists()


def test_a_host_that_is_asked_for_must_be_one_that_prompts_may_go_to() -> None:
    with pytest.raises(CannotAddError):
        endpoint_for(providers()["databricks"], {"DATABRICKS_HOST": "169.254.169.254"}, environ={})
    made = endpoint_for(providers()["databricks"], {"DATABRICKS_HOST": "mine.cloud.databricks.com"}, environ={})
    assert made.base_url == "https://mine.cloud.databricks.com/ai-gateway/mlflow/v1"


def test_a_name_that_is_taken_gets_a_number() -> None:
    make_endpoint("groq", base_url="https://groq.example/v1")
    assert endpoint_for(providers()["groq"], environ={}).name == "groq-2"


def test_a_local_server_becomes_an_endpoint_once() -> None:
    endpoint = endpoint_at(LocalServer(8080, "llama.cpp", "llama-cpp"))
    assert (endpoint.name, endpoint.base_url, endpoint.api_key_env) == ("llama-cpp-8080", "http://127.0.0.1:8080/v1", "")
    assert endpoint_at(LocalServer(8080, "llama.cpp", "llama-cpp")) == endpoint
    ollama = endpoint_at(LocalServer(11434, "Ollama", "ollama", protocol="ollama", path=""))
    assert (ollama.protocol, ollama.base_url) == ("ollama", "http://127.0.0.1:11434")


def test_models_are_added_with_facts_and_those_here_are_left_alone() -> None:
    endpoint = make_endpoint("groq", provider="groq")
    mine = make_model("mine", served_id="here", endpoint=endpoint, role="light")
    list_model("openai/gpt-oss-20b", context_window=131_072, free="quota")
    added = add_models(endpoint, [Candidate("groq", "openai/gpt-oss-20b"), Candidate("groq", "here")])
    (model,) = added.models
    assert (model.alias, model.role) == ("gpt-oss-20b", "general")
    assert model.known.get("context_window") == 131_072
    assert added.with_here == (model, mine)
    assert LanguageModel.objects.get(alias="mine").role == "light"
    assert Fact.objects.filter(served_id="openai/gpt-oss-20b", field="free").exists()


def test_one_that_cannot_be_added_costs_no_other() -> None:
    endpoint = make_endpoint("groq", provider="groq")
    chosen = [
        Candidate("groq", "bad\x00id"),
        Candidate("groq", "good"),
        Candidate("groq", "x" * 300),
        Candidate("groq", "good"),
    ]
    added = add_models(endpoint, chosen)
    assert [model.served_id for model in added.models] == ["good"]
    assert len(added.refused) == 2
    assert all("served_id" in why for why in added.refused)
    assert "\x00" not in "".join(added.refused)


def test_what_an_endpoint_lists_itself_is_what_can_be_added_with_what_catalogs_know_besides() -> None:
    endpoint = make_endpoint("gr", provider="groq")
    list_model("both", free="quota", context_window=131_072, name="Both")
    list_model("catalog-only", free="zero")
    assert [choice.candidate.served_id for choice in served_at(endpoint).choices] == ["catalog-only", "both"]
    list_model("both", source="endpoint:gr", provider="gr", context_window=8_192)
    list_model("own", source="endpoint:gr", provider="gr")
    list_model("own-embedding", source="endpoint:gr", provider="gr", kind=CatalogEntry.Kind.OTHER)
    model = make_model("mine", served_id="own", endpoint=endpoint)
    serving = served_at(endpoint)
    assert serving.own
    both, own = (choice.candidate for choice in serving.choices)
    assert (both.served_id, both.name, both.free, both.context_window) == ("both", "Both", "quota", 8_192)
    assert own.served_id == "own"
    assert serving.choices[1].here == (model,)


def test_an_ollamas_model_without_a_tag_is_its_latest() -> None:
    endpoint = make_endpoint("ollama", protocol="ollama", base_url="http://127.0.0.1:11434")
    list_model("qwen3:latest", source="endpoint:ollama", provider="ollama")
    model = make_model("mine", served_id="qwen3", endpoint=endpoint)
    (choice,) = served_at(endpoint).choices
    assert choice.here == (model,)
    assert add_models(endpoint, [choice.candidate]).with_here == (model,)


def test_a_retired_model_is_not_brought_back_by_the_way() -> None:
    endpoint = make_endpoint("groq", provider="groq")
    make_model("old", served_id="a-model", endpoint=endpoint, status="retired")
    added = add_models(endpoint, [Candidate("groq", "a-model")])
    assert added.with_here == ()
    assert "retired: restore it first" in added.refused[0]


def test_an_alias_that_somebody_took_meanwhile_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = make_endpoint("groq", provider="groq")
    make_model("taken")
    monkeypatch.setattr("collections_app.catalog.onboarding.adding.propose_alias", lambda served_id, *_: served_id)
    added = add_models(endpoint, [Candidate("groq", "taken"), Candidate("groq", "free")])
    assert [model.alias for model in added.models] == ["free"]
    assert "add it again" in added.refused[0]
