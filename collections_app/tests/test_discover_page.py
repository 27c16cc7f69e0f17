"""The Discover page: bounded, whole with the real catalogs, safe with hostile ones; one click adds a model."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collections_app.models import Change, Fact, LanguageModel
from collections_app.tests.listed import list_model, needs_snapshots, no_keys, take_in_snapshots  # noqa: F401 - a fixture
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_keys")]

URL = "/admin/collections_app/catalogentry/discover/"
# The catalogs' rows, the endpoints, the models, the sources; the session's user and what the sidebar counts.
MOST_QUERIES = 7
EVERYTHING = "?text=e&free=free&vision=on&tools=on&window=8000&reachable=on&new_family=on&order=newest"


def page(client: Client, query: str = "") -> str:
    reply = client.get(URL + query)
    assert reply.status_code == 200
    return reply.content.decode()


def add(client: Client, **fields: Any) -> HttpResponse:
    return client.post(
        f"{URL}add/", {"provider": "groq", "endpoint": "groq", "query": "free=zero&page=2", **fields}, follow=True
    )


def test_one_click_adds_a_model_with_a_proposed_alias_role_and_facts(client: Client) -> None:
    make_endpoint("groq", provider="groq")
    list_model("qwen/qwen3-coder-30b", context_window=131_072, vision=False, tools=True, free="quota")
    assert "Add qwen/qwen3-coder-30b at groq" in page(client)
    reply = add(client, served_id="qwen/qwen3-coder-30b")
    assert reply.redirect_chain == [(f"{URL}?free=zero&page=2", 302)]
    text = reply.content.decode()
    assert "qwen3-coder-30b was added at groq, as code, with a window of 131,072 tokens." in text
    model = LanguageModel.objects.get()
    assert (model.alias, model.role, model.status, model.endpoint.name) == ("qwen3-coder-30b", "code", "active", "groq")
    assert model.context_window is None, "what a catalog knows is a fact, and no override"
    assert Fact.objects.get(field="context_window").value == 131_072
    assert Change.objects.filter(object_repr="qwen3-coder-30b").first().made_by == "local"
    assert "on bench: qwen3-coder-30b" in page(client)


def test_a_model_that_is_here_already_stays_as_it_is(client: Client) -> None:
    make_model("mine", served_id="a-model", endpoint=make_endpoint("groq", provider="groq"), role="light")
    list_model("a-model")
    assert "It is on the bench already, as mine." in add(client, served_id="a-model").content.decode()
    assert LanguageModel.objects.get().role == "light"


def test_an_alias_that_is_taken_leaves_both_models(client: Client) -> None:
    make_model("a-model", served_id="a-model", endpoint=make_endpoint("elsewhere"))
    make_endpoint("groq", provider="groq")
    list_model("a-model")
    add(client, served_id="a-model")
    assert set(LanguageModel.objects.values_list("alias", flat=True)) == {"a-model", "a-model-groq"}


@pytest.mark.parametrize("fields", [{"endpoint": "elsewhere"}, {"endpoint": ""}, {"endpoint": "nobody"}])
def test_a_model_is_added_at_an_endpoint_of_its_own_provider_alone(client: Client, fields: dict[str, str]) -> None:
    make_endpoint("elsewhere", base_url="https://openrouter.ai/api/v1")
    list_model("a-model")
    assert "onboard the provider first" in add(client, served_id="a-model", **fields).content.decode()
    assert not LanguageModel.objects.exists()


def test_what_no_catalog_lists_is_not_added(client: Client) -> None:
    make_endpoint("groq", provider="groq")
    list_model("a-model")
    assert add(client, served_id="another").status_code == 404
    assert client.post(f"{URL}add/").status_code == 404
    assert not LanguageModel.objects.exists()


def test_looking_changes_nothing_and_adding_needs_a_token_of_the_page(client: Client) -> None:
    make_endpoint("groq", provider="groq")
    list_model("a-model")
    fields = {"provider": "groq", "served_id": "a-model", "endpoint": "groq"}
    assert client.get(f"{URL}add/", fields).status_code == 302
    assert Client(enforce_csrf_checks=True).post(f"{URL}add/", fields).status_code == 403
    assert not LanguageModel.objects.exists()


def test_staff_who_may_add_no_model_are_shown_no_button_and_refused(client: Client, settings: Any) -> None:
    settings.BENCHWARMERS_ADMIN_TOKEN = "a-token-of-24-characters"
    guest = User.objects.create_user("guest", password="x", is_staff=True)
    guest.user_permissions.add(Permission.objects.get(codename="view_catalogentry"))
    client.force_login(guest)
    make_endpoint("groq", provider="groq")
    list_model("a-model")
    assert "Add a-model" not in page(client)
    assert add(client, served_id="a-model").status_code == 403
    assert client.get("/admin/collections_app/catalogentry/onboarding/").status_code == 403


def test_a_provider_without_an_endpoint_is_onboarded_first(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    list_model("a-model")
    list_model("b-model", provider="a-provider-that-nobody-knows")
    text = page(client)
    assert "/admin/collections_app/catalogentry/onboarding/provider/groq/" in text
    assert "no key here" in text
    assert "add its endpoint by hand" in text
    monkeypatch.setenv("GROQ_API_KEY", "gsk_a-secret-of-mine")
    text = page(client)
    assert "GROQ_API_KEY is set" in text
    assert "a-secret-of-mine" not in text


def test_hostile_names_are_text_with_their_marks_spelt_out_and_cut(client: Client) -> None:
    make_endpoint("groq", provider="groq")
    hostile = '"><script>alert(1)</script>\u202egnp'
    list_model(hostile, name=f"<img src=x onerror=alert(1)>{'w' * 170}", released="<b>", family="<i>", same="\u202e")
    list_model("a-model", provider='"><script>alert(2)</script>')
    text = page(client) + page(client, "?provider=%22%3E%3Cscript%3Ealert(2)%3C/script%3E&text=%22%3E%3Cscript%3E")
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "[U+202E]gnp" in text
    assert "w" * 60 not in text
    reply = add(client, served_id=hostile)
    assert "<script>alert" not in reply.content.decode()
    assert LanguageModel.objects.get().alias == "script-gnp"


@pytest.mark.parametrize(
    "query",
    [
        *("?page=0", "?page=-1", "?page=999999999999", "?page=x", "?page=1&page=2"),
        *("?window=x", "?free=x", "?order=x", "?provider=x", "?vision=maybe"),
        *(f"?text={'e' * 5000}", "?%00=%00", "?text=%00", "?text=%ED%A0%80"),
    ],
)
def test_a_query_that_makes_no_sense_is_a_page_all_the_same(client: Client, query: str) -> None:
    list_model("a-model")
    page(client, query)


def test_pages_are_linked_with_the_query_they_are_of(client: Client) -> None:
    for number in range(120):
        list_model(f"model-{number:03}", free="zero")
    text = page(client, "?free=zero&page=2")
    assert 'href="?free=zero&amp;page=3"' in text
    assert '<strong aria-current="page">2</strong>' in text


def test_before_the_first_reading_it_says_so_and_adds_from_what_shipped(client: Client) -> None:
    assert "As shipped" in page(client)
    make_endpoint("groq", provider="groq")
    reply = add(client, served_id="openai/gpt-oss-120b")
    assert "gpt-oss-120b was added at groq, as general, with a window of 131,072 tokens." in reply.content.decode()


def test_it_costs_the_same_queries_however_much_there_is(client: Client) -> None:
    list_model("a-model", provider="provider-0", free="zero")
    make_model("an-alias", endpoint=make_endpoint("endpoint-0", provider="provider-0"))
    page(client)  # the first page of all makes the user `local`
    few = [queries(client, query) for query in ("", EVERYTHING)]
    for number in range(1, 100):
        list_model(f"model-{number:03}", provider=f"provider-{number % 7}", free="zero")
        make_model(f"alias-{number}", endpoint=make_endpoint(f"endpoint-{number % 9}", provider=f"provider-{number % 9}"))
    assert [queries(client, query) for query in ("", EVERYTHING)] == few
    assert max(few) <= MOST_QUERIES


def queries(client: Client, query: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        page(client, query)
    return len(captured)


@needs_snapshots
def test_the_real_catalogs_open_in_every_order(client: Client) -> None:
    take_in_snapshots()
    make_endpoint("openrouter", provider="openrouter")
    page(client, EVERYTHING)
    for query in ("", "?order=price&page=40", "?text=qwen", "?free=free"):
        assert "models, " in page(client, query), query
