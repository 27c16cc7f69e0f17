"""Every page of the roster opens, shows what it should, escapes what people typed, and asks no query per row."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collections_app.models import Alert, Change, Collection, CoolDown, Endpoint, LanguageModel, Shape
from collections_app.services.members import set_members
from collections_app.tests.rosters import make_collection, make_endpoint, make_model

pytestmark = pytest.mark.django_db

LISTS = ["collection", "languagemodel", "endpoint", "shape", "change"]
SCRIPT = "<script>alert(1)</script>"
BREAKOUT = "\"'><img src=x onerror=alert(1)>"


def page(client: Client, path: str, **query: str) -> str:
    reply = client.get(f"/admin/collections_app/{path}", query, follow=True)
    assert reply.status_code == 200, path
    return reply.content.decode()


def a_roster(models: int = 3) -> list[LanguageModel]:
    made = [make_model(f"model-{n}", endpoint=make_endpoint(f"endpoint-{n}")) for n in range(models)]
    for n in range(models):
        make_collection(f"collection-{n}", *made, tags=["hard"], shape=Shape.objects.first(), merger=made[0])
    return made


@pytest.mark.parametrize("row", LISTS)
def test_lists_forms_and_histories_open(client: Client, row: str) -> None:
    a_roster()
    rows = {"collection": Collection, "languagemodel": LanguageModel, "endpoint": Endpoint, "shape": Shape, "change": Change}
    first = rows[row].objects.first()
    assert "model-0" in page(client, "collection/")
    page(client, f"{row}/", q="model")
    page(client, f"{row}/{first.pk}/change/")
    page(client, f"{row}/{first.pk}/history/")
    if row != "change":
        page(client, f"{row}/add/")
        page(client, f"{row}/{first.pk}/delete/")


def test_the_first_page_leads_to_all_others(client: Client) -> None:
    text = client.get("/admin/").content.decode()
    for row in [*LISTS, "limits"]:
        assert f'href="/admin/collections_app/{row}/"' in text
    assert 'href="/admin/auth/user/"' in text


@pytest.mark.parametrize("row", LISTS)
def test_a_list_costs_the_same_however_long_it_is(client: Client, row: str) -> None:
    a_roster(2)
    page(client, f"{row}/")  # the first page of all makes the user `local`
    with CaptureQueriesContext(connection) as few:
        page(client, f"{row}/")
    for n in range(2, 12):
        model = make_model(f"model-{n}", endpoint=make_endpoint(f"endpoint-{n}"))
        make_collection(f"collection-{n}", model, *LanguageModel.objects.all()[:2], shape=Shape.objects.last())
        Shape.objects.create(name=f"shape-{n}", description="More of them.", roles=["general"])
    with CaptureQueriesContext(connection) as many:
        page(client, f"{row}/")
    assert len(many) == len(few), [query["sql"] for query in many.captured_queries]


def test_the_list_of_collections_shows_seats_and_advice(client: Client) -> None:
    alike = [make_model(f"llama-{n}", served_id=f"llama-3.{n}-70b") for n in range(2)]
    make_collection("alike", *alike)
    make_collection("alone", alike[0])
    text = page(client, "collection/")
    assert "no explorers" not in text
    for shown in ("bench/alike", "2 + 2 = 4", "2 members + 2 explorers = 4 seats", "one family", "1 + 2 = 3", "few members"):
        assert shown in text, shown
    assert text.index("llama-0") < text.index("llama-1")


def test_the_list_of_models_shows_what_is_known(client: Client) -> None:
    make_model("known", served_id="deepseek-r1-distill-llama-70b", context_window=131072, status="ad_hoc")
    make_model("router", served_id="openrouter/auto")
    text = page(client, "languagemodel/")
    for shown in ("deepseek, llama", "131,072", "ad hoc", "none: a router"):
        assert shown in text, shown


def test_the_list_of_endpoints_tells_whether_a_key_is_set_and_never_the_key(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "sk-very-secret")
    monkeypatch.delenv("B_KEY", raising=False)
    first = make_endpoint("first", api_key_env="A_KEY")
    make_endpoint("second", api_key_env="B_KEY")
    make_endpoint("third")
    make_model("fast", endpoint=first)
    text = page(client, "endpoint/") + page(client, f"endpoint/{first.pk}/change/")
    for shown in ("A_KEY is set", "B_KEY is not set", "no key", f'?endpoint__id__exact={first.pk}">1</a>'):
        assert shown in text, shown
    assert "sk-very-secret" not in text


@pytest.mark.parametrize("hostile", [SCRIPT, BREAKOUT])
def test_what_people_typed_is_escaped_on_every_page(client: Client, hostile: str) -> None:
    """Stored past every validator, as an old row or another writer might have it."""
    short = hostile[:32]
    endpoint = Endpoint.objects.create(name=short, base_url=hostile, api_key_env=hostile)
    model = LanguageModel.objects.create(
        alias=hostile, endpoint=endpoint, served_id=hostile, family=[hostile], options={hostile: hostile}, role=hostile[:10]
    )
    shape = Shape.objects.create(name=short, description=hostile, roles=[hostile])
    collection = Collection.objects.create(
        name=short, description=hostile, tags=[hostile], shape=shape, merger=model, reply=hostile[:10]
    )
    set_members(collection, [model])
    rows = {"collection": collection, "languagemodel": model, "endpoint": endpoint, "shape": shape}
    texts = [page(client, f"{row}/", q=hostile) + page(client, f"{row}/") for row in [*LISTS]]
    for row, instance in rows.items():
        texts += [page(client, f"{row}/{instance.pk}/{view}/") for view in ("change", "delete", "history")]
    texts += [page(client, f"change/{change.pk}/change/") for change in Change.objects.all()]
    texts.append(page(client, "collection/add/"))
    for text in texts:
        assert "<script>alert" not in text
        assert "<img src=x" not in text
    assert any("&lt;script&gt;alert" in text or "&lt;img src=x" in text for text in texts)


def test_autocomplete_finds_models_by_alias_and_id(client: Client) -> None:
    make_model("fast", served_id="acme/quick-9")
    query = {"app_label": "collections_app", "model_name": "membership", "field_name": "language_model", "term": "quick"}
    found = client.get("/admin/autocomplete/", query).json()["results"]
    assert [row["text"] for row in found] == ["fast"]


def test_shapes_say_who_explores_on_them_and_which_collections_have_them(client: Client) -> None:
    make_model("one", role="code")
    make_model("two", role="general")
    make_model("three", role="general", status="retired")
    make_collection("core", make_model("four", role="light"), shape=Shape.objects.get(name="review"))
    shown = page(client, "shape/")
    row = shown[shown.index(">review<") :].partition("</tr>")[0]
    assert "2 models" in row
    assert "bench/core" in row


def test_endpoints_say_what_is_in_the_way_of_their_models(client: Client) -> None:
    now = timezone.now()
    troubled, quiet = make_endpoint("troubled"), make_endpoint("quiet")
    for served_id in ("one", "two"):
        make_model(served_id, endpoint=troubled)
        CoolDown.objects.create(endpoint=troubled, served_id=served_id, since=now, until=now + timedelta(hours=1), why="429")
    CoolDown.objects.create(endpoint=quiet, served_id="over", since=now, until=now - timedelta(hours=1), why="429")
    Alert.objects.create(kind="key_rejected", endpoint=troubled, message="refused", to_do="type it again", opened_at=now)
    shown = page(client, "endpoint/")
    assert shown.count("2 cooling down</a>") == shown.count("1 alert</a>") == 1
    assert shown.count("cooling down</a>") == 1
