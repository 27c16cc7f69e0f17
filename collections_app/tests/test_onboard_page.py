"""The Onboarding pages: from a key, a typed one or a local server to models that are added and tried; no key is shown."""

import json
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collections_app.catalog.onboarding import probe_local
from collections_app.catalog.onboarding.trying import Tried
from collections_app.models import CatalogSource, Endpoint, LanguageModel
from collections_app.selectors import typed_key
from collections_app.tests.listed import list_model, no_keys  # noqa: F401 - a fixture
from collections_app.tests.places import Places, sending
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("no_keys"),
    # The trial's page is sent as it goes; whoever reads it here waits for all of it.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume asynchronous iterators"),
]

URL = "/admin/collections_app/catalogentry/onboarding/"
SECRET = "sk-0123456789-a-secret-of-mine"
LLAMA = {
    "/v1/models": sending(json.dumps({"object": "list", "data": [{"id": "small-1b", "meta": {"n_ctx_train": 8192}}]}).encode()),
    "/props": sending(json.dumps({"default_generation_settings": {"n_ctx": 4096}, "modalities": {"vision": False}}).encode()),
}
HOSTILE = "<script>alert(1)</script>\u202e"


def tells_no_secret(models: Sequence[LanguageModel], left: Event) -> Iterator[Tried]:
    """A trial that asks nobody."""
    for model in models:
        if model.served_id.startswith("bad"):
            yield Tried(model, "failed", seconds=0.5, kind="not_found", said=HOSTILE, to_do="Retire it.")
        else:
            yield Tried(model, "answered", seconds=1.25, said="ready")


@pytest.fixture(autouse=True)
def trial(settings: Any) -> None:
    settings.BENCH_TRIAL = f"{__name__}.tells_no_secret"


@pytest.fixture
def place() -> Iterator[Places]:
    with Places() as serving:
        yield serving


def text_of(reply: Any) -> str:
    body = b"".join(reply) if reply.streaming else reply.content
    return str(body.decode())


def page(client: Client, path: str = "", **query: str) -> str:
    reply = client.get(URL + path, query)
    assert reply.status_code == 200
    return text_of(reply)


def port_of(place: Places) -> str:
    return place.url.rpartition(":")[2]


def test_a_local_server_is_looked_for_added_and_its_models_tried(client: Client, place: Places) -> None:
    place.scripts = LLAMA
    found = text_of(client.post(f"{URL}look/", {"ports": port_of(place)}))
    assert "llama.cpp" in found
    assert f"http://127.0.0.1:{port_of(place)}/v1" in found
    assert not Endpoint.objects.exists(), "looking adds nothing"
    reply = client.post(f"{URL}look/", {"ports": port_of(place), "add": port_of(place)})
    endpoint = Endpoint.objects.get()
    assert reply.headers["Location"] == f"{URL}endpoint/{endpoint.name}/"
    listed = page(client, f"endpoint/{endpoint.name}/")
    assert "small-1b" in listed
    assert "4,096" in listed, "the window that answers, not the trained one"
    tried = text_of(client.post(f"{URL}endpoint/{endpoint.name}/", {"model": "small-1b"}))
    assert "1 model added." in tried
    assert tried.index("small-1b</a>") < tried.index("The trial has ended.")
    assert LanguageModel.objects.get().known_with(endpoint.facts.all()).get("context_window") == 4096


def test_nothing_is_looked_for_before_somebody_asks(client: Client, place: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_local, "PORTS", {int(port_of(place)): "somebody"})
    page(client)
    assert client.get(f"{URL}look/").status_code == 302
    assert not place.asked
    client.post(f"{URL}look/", {"ports": ""})
    assert place.asked


@pytest.mark.parametrize("ports", ["x", "0", "65536", "80 -1", "1" * 300, "127.0.0.1:80", "²"])
def test_what_is_no_port_is_said_so(client: Client, ports: str) -> None:
    found = text_of(client.post(f"{URL}look/", {"ports": ports}))
    assert 'role="alert"' in found
    assert "answered there" not in found


def test_a_port_on_which_nobody_listens_is_told(client: Client) -> None:
    assert "No model server answered there" in text_of(client.post(f"{URL}look/", {"ports": "9"}))


def test_keys_found_are_told_by_name_and_shown_nowhere(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", SECRET)
    text = page(client)
    assert text.index("MISTRAL_API_KEY is set") < text.index("Servers of this machine")
    assert "onboarding/provider/mistral/" in text
    provider = page(client, "provider/mistral/")
    assert "MISTRAL_API_KEY is set" in provider
    assert 'name="key"' not in provider, "where a key is set none is asked for"
    assert SECRET not in text + provider


def test_a_key_that_is_typed_in_is_kept_for_the_host_and_not_shown(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "collections_app.admin.adding.onboarding.list_models", lambda endpoint: asked.append(endpoint.name) or ""
    )
    assert 'type="password"' in page(client, "provider/groq/")
    reply = client.post(f"{URL}provider/groq/", {"key": SECRET}, follow=True)
    endpoint = Endpoint.objects.get()
    assert asked == ["groq"]
    assert reply.redirect_chain == [(f"{URL}endpoint/groq/", 302)]
    assert typed_key(str(endpoint.typed_key_id), endpoint.base_url) == SECRET
    assert SECRET not in text_of(reply)
    refused = text_of(client.post(f"{URL}provider/mistral/", {"key": "two words"}))
    assert "A key is ASCII" in refused
    assert "two words" not in refused
    assert not Endpoint.objects.filter(name="mistral").exists()


def test_what_a_url_needs_is_asked_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collections_app.admin.adding.onboarding.list_models", lambda endpoint: "it asks for a key")
    path = f"{URL}provider/cloudflare-workers-ai/"
    assert 'name="CLOUDFLARE_ACCOUNT_ID"' in page(client, "provider/cloudflare-workers-ai/")
    assert "This field is required" in text_of(client.post(path, {}))
    assert "cannot be part of a URL" in text_of(client.post(path, {"CLOUDFLARE_ACCOUNT_ID": "../x"}))
    assert not Endpoint.objects.exists()
    reply = client.post(path, {"CLOUDFLARE_ACCOUNT_ID": "0123abc"}, follow=True)
    assert "could not be asked for its models: it asks for a key" in text_of(reply)
    assert "/accounts/0123abc/" in Endpoint.objects.get().base_url


@pytest.mark.parametrize("path", ["provider/github-models/", "provider/nobody/", "endpoint/nobody/"])
def test_what_is_not_there_is_not_found(client: Client, path: str) -> None:
    assert client.get(URL + path).status_code == 404


def test_every_provider_can_be_searched_for(client: Client) -> None:
    text = page(client, text="moonshot")
    assert "Moonshot" in text
    assert "Hugging Face" not in text
    assert "No provider is called so." in page(client, text="<script>nobody")


def test_chosen_models_are_added_and_tried_and_failures_say_what_to_do(client: Client) -> None:
    endpoint = make_endpoint("gr", provider="groq")
    make_model("mine", served_id="here", endpoint=endpoint)
    for served_id in ("good", "bad", "here", "unchosen"):
        list_model(served_id, free="quota")
    text = text_of(client.post(f"{URL}endpoint/gr/", {"model": ["good", "bad", "here"]}))
    assert "2 models added." in text
    assert text.count("1.3") == 2
    assert "Retire it." in text
    assert "<script>alert" not in text
    assert "[U+202E]" in text
    assert not LanguageModel.objects.filter(served_id="unchosen").exists()


def test_an_id_that_nobody_lists_can_be_typed(client: Client) -> None:
    make_endpoint("gr")
    assert "No chat model is known here" in page(client, "endpoint/gr/")
    assert "1 model added." in text_of(client.post(f"{URL}endpoint/gr/", {"typed": " acme/some-model "}))
    assert LanguageModel.objects.get().served_id == "acme/some-model"


def test_with_nothing_chosen_nothing_happens_and_it_says_so(client: Client) -> None:
    make_endpoint("gr")
    assert "Nothing was chosen" in text_of(client.post(f"{URL}endpoint/gr/", follow=True))
    assert "Not added" in text_of(client.post(f"{URL}endpoint/gr/", {"typed": "x\x7fy"}, follow=True))
    assert not LanguageModel.objects.exists()


def test_free_models_can_be_ticked_at_once_and_those_here_are_not(client: Client) -> None:
    endpoint = make_endpoint("gr", provider="groq")
    make_model("mine", served_id="here", endpoint=endpoint)
    list_model("here", free="zero")
    list_model("free-one", free="zero")
    list_model("paid", price_in=1.0)
    assert " checked" not in page(client, "endpoint/gr/")
    text = page(client, "endpoint/gr/", free="1")
    assert 'value="free-one" checked' in text
    assert text.count(" checked") == 1


def test_its_list_is_asked_for_again(client: Client, place: Places) -> None:
    place.scripts = LLAMA
    make_endpoint("mine", base_url=f"{place.url}/v1")
    reply = client.post(f"{URL}endpoint/mine/?text=small", {"list": "1"})
    assert reply.headers["Location"] == f"{URL}endpoint/mine/?text=small"
    assert CatalogSource.objects.get(name="endpoint:mine").good_at
    assert "as mine lists them" in page(client, "endpoint/mine/")


def test_changes_need_a_token_of_the_page(client: Client) -> None:
    make_endpoint("gr")
    strict = Client(enforce_csrf_checks=True)
    for path in ("look/", "provider/groq/", "endpoint/gr/"):
        assert strict.post(URL + path, {"typed": "x", "list": "1"}).status_code == 403
    assert not LanguageModel.objects.exists()


def test_pages_cost_the_same_queries_however_much_there_is(client: Client) -> None:
    make_model("an-alias", served_id="a-model", endpoint=make_endpoint("endpoint-0", provider="groq"))
    list_model("a-model", free="zero")
    page(client)  # the first page of all makes the user `local`
    few = queries(client)
    for number in range(1, 40):
        list_model(f"model-{number}", free="zero")
        make_model(
            f"alias-{number}", served_id=f"model-{number}", endpoint=make_endpoint(f"endpoint-{number % 9}", provider="groq")
        )
    assert queries(client) == few
    assert max(few) <= 8


def queries(client: Client) -> list[int]:
    counts = []
    for path in ("", "provider/groq/", "endpoint/endpoint-0/"):
        with CaptureQueriesContext(connection) as captured:
            page(client, path)
        counts.append(len(captured))
    return counts
