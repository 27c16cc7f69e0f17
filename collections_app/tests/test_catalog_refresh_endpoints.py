"""What an endpoint itself lists: asked by its protocol, its key sent to its own host alone, windows served before trained."""

import json
from typing import Any

import pytest

from collections_app.catalog.refresh import Outcome, refresh
from collections_app.models import CatalogEntry, CatalogSource, Endpoint, Fact, LanguageModel
from collections_app.services.provider_keys import store_key
from collections_app.tests.catalogs import listing, openrouter
from collections_app.tests.places import Places, Script, sending
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db

KEY = "of-no-known-form-4711"


def as_json(document: Any) -> Script:
    return sending(json.dumps(document).encode())


def in_turn(documents: list[Any]) -> Script:
    """Answer each request with the next of these."""

    def script(handler: Any) -> None:
        as_json(documents.pop(0))(handler)

    return script


def endpoint(places: Places, protocol: str = "openai_chat", path: str = "/v1", **fields: Any) -> Endpoint:
    return make_endpoint("own", base_url=places.url + path, protocol=protocol, **fields)


def read() -> Outcome:
    (outcome,) = refresh(["own"]).outcomes
    return outcome


def entry(served_id: str) -> CatalogEntry:
    return CatalogEntry.objects.get(source="endpoint:own", provider="own", served_id=served_id)


def fact(model: LanguageModel, field: str) -> tuple[Any, str] | None:
    return Fact.objects.filter(served_id=model.served_id, field=field).values_list("value", "source").first()


def test_a_listing_is_asked_for_with_the_endpoints_key_and_known_of_its_models(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", f" {KEY}\n")
    model = make_model("one", endpoint=endpoint(places, api_key_env="OWN_KEY"), served_id="one")
    places.scripts["/v1/models"] = sending(listing({"id": "one", "context_window": 131_072}, {"id": "two"}))
    outcome = read()
    assert (outcome.entries, outcome.new, outcome.error) == (2, 2, "")
    assert fact(model, "context_window") == (131_072, "endpoint")
    path, headers, _ = places.asked[0]
    assert (path, headers["Authorization"]) == ("/v1/models", f"Bearer {KEY}")


def test_a_typed_key_is_sent_to_the_host_it_was_typed_for(places: Places) -> None:
    own = endpoint(places)
    store_key(own, KEY)
    places.scripts["/v1/models"] = sending(listing({"id": "one"}))
    assert not read().error
    assert places.asked[0][1]["Authorization"] == f"Bearer {KEY}"
    Endpoint.objects.filter(pk=own.pk).update(base_url=places.url.replace("127.0.0.1", "localhost") + "/v1")
    places.asked.clear()
    assert "is sent nowhere else" in read().error
    assert not places.asked


def test_an_endpoint_whose_key_is_not_set_is_not_asked(places: Places) -> None:
    endpoint(places, api_key_env="NO_SUCH_KEY_IS_SET")
    outcome = read()
    assert outcome.skipped
    assert outcome.error == "the environment variable NO_SUCH_KEY_IS_SET is not set, and this endpoint's key is in it"
    assert not places.asked and not CatalogSource.objects.exists()


def test_a_rejected_key_is_told_without_it(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    endpoint(places, api_key_env="OWN_KEY")
    places.scripts["/v1/models"] = sending(json.dumps({"error": f"bad key {KEY}"}).encode(), 401)
    assert read().error.endswith("answers 401: it does not accept the key")
    assert KEY not in str(CatalogSource.objects.values())


def test_a_key_that_is_repeated_in_a_good_answer_is_kept_nowhere(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    endpoint(places, api_key_env="OWN_KEY")
    places.scripts["/v1/models"] = as_json({"error": {"message": f"bad key {KEY}"}})
    assert read().error == "it answered with an error: bad key [key]"
    places.scripts["/v1/models"] = sending(
        listing({"id": "one", "name": f"One of {KEY}"}, {"id": KEY}, {"id": "two", "rpm": KEY})
    )
    read()
    kept = [*CatalogEntry.objects.values(), *CatalogSource.objects.values()]
    assert len(kept) > 3 and KEY not in str(kept)


def test_a_key_follows_no_redirect(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    endpoint(places, api_key_env="OWN_KEY")
    places.scripts["/v1/models"] = sending(b"", 302, Location="/v2/models")
    assert read().error.endswith("redirects, which a key is not sent along")
    assert places.paths() == ["/v1/models"]


def test_a_command_has_no_listing(places: Places) -> None:
    endpoint(places, "llm_cli")
    assert [each.source for each in refresh().outcomes] == ["models_dev", "openrouter", "freellmapi"]


# --- By protocol ---------------------------------------------------------------------------------


def test_anthropic_is_asked_with_its_headers_page_by_page(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    endpoint(places, "anthropic_messages", api_key_env="OWN_KEY")
    pages = [
        {"data": [{"type": "model", "id": "one", "max_input_tokens": 200_000}], "has_more": True, "last_id": "one"},
        {"data": [{"type": "model", "id": "two"}], "has_more": False, "last_id": "two"},
    ]
    places.scripts["/v1/models"] = in_turn(pages)
    assert read().entries == 2
    assert places.paths()[:2] == ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=one"]
    headers = places.asked[1][1]
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert entry("one").context_window == 200_000


def test_gemini_is_asked_with_its_header_page_by_page(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    endpoint(places, "gemini", "/v1beta", api_key_env="OWN_KEY")
    row = {"inputTokenLimit": 1_048_576, "supportedGenerationMethods": ["generateContent"]}
    pages = [{"models": [{"name": "models/one", **row}], "nextPageToken": "t/1"}, {"models": [{"name": "models/two", **row}]}]
    places.scripts["/v1beta/models"] = in_turn(pages)
    assert read().entries == 2
    assert places.paths()[:2] == ["/v1beta/models?pageSize=1000", "/v1beta/models?pageSize=1000&pageToken=t%2F1"]
    assert places.asked[1][1]["x-goog-api-key"] == KEY
    assert entry("one").context_window == 1_048_576


def test_a_page_that_is_missing_leaves_everything_as_it_was(places: Places) -> None:
    endpoint(places, "gemini", "/v1beta")
    places.scripts["/v1beta/models"] = as_json({"models": [{"name": "models/one"}], "nextPageToken": "t"})
    # The same page again and again has no end.
    assert read().error.startswith("its pages have no end")
    assert len(places.asked) == 21
    assert not CatalogEntry.objects.exists()


def ollama(places: Places, **shown: Any) -> None:
    tags = {
        "models": [{"name": name, "model": name, "details": {"family": "qwen3"}} for name in ("qwen3:latest", "gemma3:12b")]
    }
    places.scripts["/api/tags"] = as_json(tags)

    def show(handler: Any) -> None:
        name = json.loads(places.asked[-1][2])["model"]
        as_json(shown[name])(handler) if name in shown else sending(b"{}", 404)(handler)

    places.scripts["/api/show"] = show


def test_ollama_is_asked_about_each_model_and_what_is_loaded(places: Places) -> None:
    model = make_model("qwen", endpoint=endpoint(places, "ollama", ""), served_id="qwen3")
    info = {"general.architecture": "qwen3", "qwen3.context_length": 40_960}
    ollama(
        places,
        **{
            "qwen3:latest": {
                "model_info": info,
                "details": {},
                "capabilities": ["completion", "tools"],
                "parameters": "num_ctx 8192",
            }
        },
    )
    places.scripts["/api/ps"] = as_json(
        {"models": [{"name": "qwen3:latest", "model": "qwen3:latest", "context_length": 4_096}]}
    )
    assert read().entries == 2
    # One without a tag is the latest; what is loaded has the window that answers.
    assert fact(model, "context_window") == (4_096, "endpoint")
    assert (fact(model, "tools"), fact(model, "vision")) == ((True, "endpoint"), (False, "endpoint"))
    assert entry("qwen3:latest").trained_window == 40_960
    assert entry("gemma3:12b").context_window is None


def test_of_many_models_ollama_is_asked_about_those_of_this_bench(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collections_app.catalog.refreshing.own_listing.MOST_SHOWN", 1)
    make_model("qwen", endpoint=endpoint(places, "ollama", ""), served_id="qwen3")
    ollama(places)
    read()
    assert [body for path, _, body in places.asked if path == "/api/show"] == [b'{"model": "qwen3:latest"}']


def test_llama_cpp_tells_the_window_it_serves_and_not_what_was_trained(places: Places) -> None:
    model = make_model("gemma", endpoint=endpoint(places), served_id="gemma.gguf")
    places.scripts["/v1/models"] = sending(listing({"id": "gemma.gguf", "meta": {"n_ctx_train": 8_192}}))
    props = {"default_generation_settings": {"n_ctx": 4_096}, "model_path": "/m/other.gguf", "modalities": {"vision": True}}
    places.scripts["/props"] = as_json(props)
    read()
    assert (fact(model, "context_window"), fact(model, "vision")) == ((4_096, "endpoint"), (True, "endpoint"))
    assert (entry("gemma.gguf").trained_window, entry("gemma.gguf").free) == (8_192, "local")


def test_of_several_models_llama_cpp_speaks_of_the_one_it_names(places: Places) -> None:
    endpoint(places)
    places.scripts["/v1/models"] = sending(listing({"id": "a.gguf"}, {"id": "b.gguf"}))
    places.scripts["/props"] = as_json({"default_generation_settings": {"n_ctx": 4_096}, "model_path": "/m/b.gguf"})
    read()
    assert (entry("a.gguf").context_window, entry("b.gguf").context_window) == (None, 4_096)


def test_lm_studio_tells_the_window_of_what_is_loaded(places: Places) -> None:
    endpoint(places)
    places.scripts["/v1/models"] = sending(listing({"id": "llama"}))
    row = {"id": "llama", "type": "llm", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 8_192}
    places.scripts["/api/v0/models"] = sending(listing(row))
    # What it answers to paths that it does not know.
    places.scripts["/props"] = as_json({"error": "Unexpected endpoint or method. (GET /props)"})
    read()
    assert entry("llama").context_window == 8_192


def test_a_server_that_falls_silent_keeps_what_it_told(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collections_app.catalog.refreshing.own_listing.SECONDS", 0.5)
    endpoint(places)
    places.scripts["/v1/models"] = sending(listing({"id": "gemma.gguf"}))
    places.scripts["/props"] = as_json({"default_generation_settings": {"n_ctx": 4_096}})
    read()
    places.scripts["/props"] = sending(b"{}", Content_Length="100")
    assert read().error.endswith("was cut off")
    assert entry("gemma.gguf").context_window == 4_096


def test_models_of_a_server_of_ones_own_come_and_go(places: Places) -> None:
    endpoint(places)
    places.scripts["/v1/models"] = sending(listing(*({"id": f"m{number}"} for number in range(9))))
    read()
    places.scripts["/v1/models"] = sending(listing({"id": "m0"}))
    outcome = read()
    assert (outcome.error, outcome.entries, outcome.gone) == ("", 1, 8)


def test_a_providers_own_listing_is_where_it_has_it_or_else_where_most_have_it(places: Places) -> None:
    endpoint(places, provider="xai")
    places.scripts["/v1/models"] = sending(listing({"id": "one"}))
    assert read().entries == 1
    assert places.paths()[:2] == ["/v1/language-models", "/v1/models"]
    places.scripts["/v1/language-models"] = sending(listing({"id": "one"}, {"id": "two"}))
    assert read().entries == 2
    places.scripts["/v1/language-models"] = sending(b"", 500)
    assert "answers 500" in read().error


def test_a_public_listing_elsewhere_is_asked_without_the_key(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    elsewhere = places.url.replace("127.0.0.1", "localhost")
    monkeypatch.setattr(
        "collections_app.catalog.refreshing.own_listing.OwnListing._paths", lambda self: (f"{elsewhere}/public",)
    )
    endpoint(places, api_key_env="OWN_KEY")
    places.scripts["/public"] = sending(listing({"id": "one"}))
    assert read().entries == 1
    assert "Authorization" not in places.asked[0][1]


def test_prices_of_a_listing_are_in_the_unit_of_its_provider(places: Places) -> None:
    endpoint(places, provider="openrouter")
    places.scripts["/v1/models"] = sending(listing(openrouter("one", "0.0000015")))
    read()
    assert entry("one").price_in == 1.5
