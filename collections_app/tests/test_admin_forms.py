"""The roster's forms: members in order, words and options as people type them, and every mistake named."""

import re
from typing import Any

import pytest
from django.test import Client

from collections_app.models import Change, Collection, LanguageModel, Limits, Shape
from collections_app.selectors import members_of
from collections_app.tests.rosters import make_collection, make_endpoint, make_model

pytestmark = pytest.mark.django_db


def send(client: Client, path: str, **fields: Any) -> str:
    reply = client.post(f"/admin/collections_app/{path}", fields, follow=True)
    assert reply.status_code == 200
    return reply.content.decode()


def members_form(*models: LanguageModel, of: Collection | None = None, order: list[Any] | None = None) -> dict[str, Any]:
    """What the form sends for these members; with `of`, its present rows first, then new ones."""
    present = list(of.memberships.all()) if of else []
    rows: dict[str, Any] = {"memberships-TOTAL_FORMS": len(models), "memberships-INITIAL_FORMS": len(present)}
    for n, model in enumerate(models):
        rows[f"memberships-{n}-language_model"] = model.pk
        rows[f"memberships-{n}-position"] = order[n] if order else ""
        if n < len(present):
            rows[f"memberships-{n}-id"] = present[n].pk
            rows[f"memberships-{n}-collection"] = of.pk if of else ""
    return rows


def collection_form(name: str = "core", **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": "", "tags": "", "shape": "", "reply": "all", "merger": "", **fields}


def model_form(alias: str = "fast", **fields: Any) -> dict[str, Any]:
    shared = {"endpoint": make_endpoint().pk, "served_id": "acme/fast-1", "role": "general", "status": "active"}
    return {"alias": alias, "vision": "unknown", "tools": "unknown", "family": "", "options": "", **shared, **fields}


def aliases(name: str = "core") -> list[str]:
    return [model.alias for model in members_of(Collection.objects.get(name=name))]


def test_the_only_endpoint_is_chosen_for_a_new_model(client: Client) -> None:
    endpoint = make_endpoint()
    page = "/admin/collections_app/languagemodel/add/"
    chosen = f'<option value="{endpoint.pk}" selected>'
    assert chosen in client.get(page).content.decode()
    make_endpoint("another")
    assert chosen not in client.get(page).content.decode()


def test_a_collection_is_made_with_its_members_in_order(client: Client) -> None:
    models = [make_model(alias) for alias in ("zeta", "alpha", "mid")]
    form = collection_form(tags="Hard, german ,", description="Hard questions", shape=Shape.objects.get(name="review").pk)
    assert "was added successfully" in send(client, "collection/add/", **form, **members_form(*models))
    core = Collection.objects.get()
    assert (aliases(), core.tags, str(core.shape)) == (["zeta", "alpha", "mid"], ["hard", "german"], "review")


def test_members_are_dragged_removed_and_added(client: Client) -> None:
    first, second, third, new = (make_model(alias) for alias in ("first", "second", "third", "new"))
    core = make_collection("core", first, second, third)
    form = members_form(first, second, third, new, of=core, order=[2, 1, 0, ""])
    send(client, f"collection/{core.pk}/change/", **collection_form(), **form, **{"memberships-1-DELETE": "on"})
    assert aliases() == ["third", "first", "new"]
    (change,) = Change.objects.filter(changes__has_key="members")
    assert change.differences == [("members", "first, second, third", "third, first, new")]
    assert change.made_by == "local"


def test_a_new_member_is_numbered_into_its_place(client: Client) -> None:
    """As by keyboard, or where no script runs."""
    first, second, new, last = (make_model(alias) for alias in ("first", "second", "new", "last"))
    core = make_collection("core", first, second)
    form = members_form(first, second, last, new, of=core, order=[0, 2, "", 1])
    send(client, f"collection/{core.pk}/change/?plain=1", **collection_form(), **form)
    assert aliases() == ["first", "new", "second", "last"]


def test_members_are_chosen_and_added_without_scripts(client: Client) -> None:
    core = make_collection("core", make_model("first"), make_model("second"))
    page = client.get(f"/admin/collections_app/collection/{core.pk}/change/").content.decode()
    assert '<noscript><p class="bench-links"><a class="bench-link" href="?plain=1">' in page
    page = client.get(f"/admin/collections_app/collection/{core.pk}/change/?plain=1").content.decode()
    assert 'name="memberships-4-language_model"' in page
    assert "admin-autocomplete" not in page
    assert re.search(r'<select name="merger"[^>]*>(?:\s*<option[^>]*>[^<]*</option>){3}', page)


def test_a_member_is_exchanged_in_its_place(client: Client) -> None:
    first, second, other = (make_model(alias) for alias in ("first", "second", "other"))
    core = make_collection("core", first, second)
    send(client, f"collection/{core.pk}/change/", **collection_form(), **members_form(other, second, of=core, order=[0, 1]))
    assert aliases() == ["other", "second"]


def test_two_members_change_places_by_choice(client: Client) -> None:
    first, second = make_model("first"), make_model("second")
    core = make_collection("core", first, second)
    send(client, f"collection/{core.pk}/change/", **collection_form(), **members_form(second, first, of=core, order=[0, 1]))
    assert aliases() == ["second", "first"]


def test_saving_unchanged_logs_nothing(client: Client) -> None:
    first, second = make_model("first"), make_model("second")
    core = make_collection("core", first, second, tags=["hard"])
    before = Change.objects.count()
    send(client, f"collection/{core.pk}/change/", **collection_form(tags="hard"), **members_form(first, second, of=core))
    assert Change.objects.count() == before


def test_a_collection_without_members_is_refused(client: Client) -> None:
    assert "Please submit at least 1 form" in send(client, "collection/add/", **collection_form(), **members_form())
    assert not Collection.objects.exists()


def test_the_last_member_is_not_removed(client: Client) -> None:
    core = make_collection("core", only := make_model("only"))
    form = {**members_form(only, of=core), "memberships-0-DELETE": "on"}
    assert "Please submit at least 1 form" in send(client, f"collection/{core.pk}/change/", **collection_form(), **form)
    assert aliases() == ["only"]


def test_a_member_named_twice_is_refused(client: Client) -> None:
    model = make_model("fast")
    assert "duplicate" in send(client, "collection/add/", **collection_form(), **members_form(model, model))
    assert not Collection.objects.exists()


def test_few_members_and_one_family_are_warned_of(client: Client) -> None:
    model = make_model("fast")
    assert "fewer bring no second opinion" in send(client, "collection/add/", **collection_form(), **members_form(model))
    alike = [make_model(f"llama-{n}", served_id=f"llama-3.{n}-70b") for n in range(2)]
    assert "All members are of one family (llama)" in send(
        client, "collection/add/", **collection_form("alike"), **members_form(*alike)
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "Core"}, "2 to 32 lower-case letters"),
        ({"name": "taken"}, "already exists"),
        ({"tags": "so loud!"}, "is no tag"),
        ({"tags": ",".join(f"t{n}" for n in range(9))}, "up to 8 tags"),
        ({"tags": "a, a"}, "Each tag once"),
        ({"description": "x" * 301}, "at most 300 characters"),
        ({"description": "two\nlines"}, "One line of text"),
        ({"description": "nul\0"}, "Null characters are not allowed"),
        ({"shape": "999999"}, "not one of the available choices"),
        ({"reply": "loud"}, "not one of the available choices"),
    ],
)
def test_a_wrong_field_of_a_collection_is_named(client: Client, fields: dict[str, Any], reason: str) -> None:
    make_collection("taken", model := make_model("fast"))
    assert reason in send(client, "collection/add/", **collection_form(**fields), **members_form(model))
    assert Collection.objects.count() == 1


def test_a_model_is_made_with_words_and_options(client: Client) -> None:
    form = model_form(family="Llama, deepseek", options='{"temperature": 0.2}', context_window="8192", vision="true")
    assert "was added successfully" in send(client, "languagemodel/add/", **form)
    fast = LanguageModel.objects.get()
    assert (fast.family, fast.options, fast.context_window) == (["llama", "deepseek"], {"temperature": 0.2}, 8192)
    assert (fast.vision, fast.tools) == (True, None)


def test_a_model_saved_unchanged_logs_nothing(client: Client) -> None:
    fast = make_model("fast", served_id="acme/fast-1", family=["llama"], options={"temperature": 0.2})
    before = Change.objects.count()
    form = model_form(family="llama", options='{"temperature":0.2}')
    assert "was changed successfully" in send(client, f"languagemodel/{fast.pk}/change/", **form)
    assert Change.objects.count() == before


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"alias": "Fast"}, "Up to 64 lower-case letters"),
        ({"family": "two words"}, "is no family line"),
        ({"options": "{"}, "Not JSON"),
        ({"options": "[1]"}, "Call options as an object"),
        ({"options": '{"t": NaN}'}, "is no number that JSON can carry"),
        ({"options": '{"t": 1' + "0" * 5000 + "}"}, "Not JSON"),
        ({"options": '{"t": null}'}, "No null"),
        ({"options": '{"messages": []}'}, "The bench itself sets messages"),
        ({"options": '{"a":' * 3000}, "Nested too deep"),
        ({"options": '{"a":' * 10 + "1" + "}" * 10}, "Nested more than 8 deep"),
        ({"options": '{"a": "\\ud800"}'}, "is no text"),
        ({"options": '{"a": "' + "x" * 20_000 + '"}'}, "At most 20000 characters"),
        ({"context_window": "-1"}, "greater than or equal to"),
        ({"context_window": "9" * 30}, "less than or equal to"),
        ({"seat_timeout": "nan"}, "Enter a number"),
        ({"seat_timeout": "0"}, "Seconds, from 0.1 to 86400."),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_field_of_a_model_is_named(client: Client, fields: dict[str, Any], reason: str) -> None:
    assert reason in send(client, "languagemodel/add/", **model_form(**fields))
    assert not LanguageModel.objects.exists()


def test_models_are_retired_and_restored_in_a_list(client: Client) -> None:
    first, second = make_model("first"), make_model("second", status="retired")
    chosen = {"_selected_action": [first.pk, second.pk]}
    assert "1 of 2 changed to retired." in send(client, "languagemodel/", action="retire", **chosen)
    assert set(LanguageModel.objects.values_list("status", flat=True)) == {"retired"}
    assert "2 of 2 restored to what they were." in send(client, "languagemodel/", action="restore", **chosen)
    newest = Change.objects.first()
    assert newest and newest.differences == [("status", "retired", "active")]


def test_a_model_that_sits_is_not_deleted(client: Client) -> None:
    make_collection("core", fast := make_model("fast"))
    told = send(client, f"languagemodel/{fast.pk}/delete/", post="yes")
    assert "protected" in told
    assert "fast in bench/core" in told
    assert LanguageModel.objects.exists()


def test_roles_of_a_shape_are_ticked(client: Client) -> None:
    form = {"name": "haiku", "description": "Five, seven, five.", "roles": ["general", "light"]}
    assert "was added successfully" in send(client, "shape/add/", **form)
    assert Shape.objects.get(name="haiku").roles == ["general", "light"]
    assert "This field is required" in send(client, "shape/add/", name="poem", description="Longer.")
    assert "is not one of the available choices" in send(client, "shape/add/", **{**form, "name": "ode", "roles": ["poet"]})


def test_limits_are_one_page(client: Client) -> None:
    Limits.objects.all().delete()
    assert "5 members + no explorers = 5 seats" in client.get("/admin/collections_app/limits/", follow=True).content.decode()
    assert "was changed successfully" in send(client, "limits/1/change/", max_calls="3", max_explorers="1")
    assert "greater than or equal to 1" in send(client, "limits/1/change/", max_calls="0", max_explorers="1")
    limits = Limits.objects.get()
    assert (limits.max_calls, limits.max_explorers) == (3, 1)
    assert client.get("/admin/collections_app/limits/add/").status_code == 403
    assert client.post("/admin/collections_app/limits/1/delete/", {"post": "yes"}).status_code == 403


def test_an_endpoint_keeps_no_password_in_its_url(client: Client) -> None:
    form = {"name": "up", "protocol": "openai_chat", "base_url": "https://ada:secret@a.example/v1", "api_key_env": ""}
    assert "No user name or password in the URL" in send(client, "endpoint/add/", **form)
    assert "was added successfully" in send(client, "endpoint/add/", **{**form, "base_url": "https://a.example/v1"})
