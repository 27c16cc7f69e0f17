"""Typing a provider's key into the dashboard: write-only, bound to the host, cleared with a tick, and told in words alone."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.views.debug import SafeExceptionReporterFilter

from collections_app.models import Change, Endpoint
from collections_app.secret_file import NAME
from collections_app.selectors import typed_key
from collections_app.services.provider_keys import store_key
from collections_app.tests.rosters import make_endpoint

pytestmark = pytest.mark.django_db
KEY = "sk-Recognisable-4711-0815"
FORM = {"name": "upstream", "protocol": "openai_chat", "base_url": "https://api.example.com/v1", "api_key_env": ""}


@pytest.fixture(autouse=True)
def data_folder(settings: Any, tmp_path: Path) -> Path:
    settings.BENCH_DATA_DIR = tmp_path
    return tmp_path


def send(client: Client, path: str, **fields: Any) -> str:
    reply = client.post(f"/admin/collections_app/endpoint/{path}", {**FORM, **fields}, follow=True)
    assert reply.status_code == 200
    text = reply.content.decode()
    assert KEY not in text
    return text


def shown(client: Client, path: str = "") -> str:
    text = client.get(f"/admin/collections_app/endpoint/{path}", follow=True).content.decode()
    assert KEY not in text
    return text


def kept() -> str:
    row = Endpoint.objects.get()
    return typed_key(str(row.typed_key_id), row.base_url) if row.typed_key_id else ""


@pytest.fixture
def endpoint() -> Endpoint:
    endpoint = make_endpoint(base_url=FORM["base_url"])
    store_key(endpoint, KEY)
    return endpoint


def test_a_key_is_typed_with_a_new_endpoint_and_never_shown(client: Client) -> None:
    assert "Clear the stored key" not in shown(client, "add/")
    assert "was added successfully" in send(client, "add/", new_key=f"  {KEY} ")
    assert kept() == KEY
    row = Endpoint.objects.get()
    for text in (shown(client), page := shown(client, f"{row.pk}/change/")):
        assert f"a key is stored for https://api.example.com, typed on {row.typed_key_at:%Y-%m-%d}" in text
    field = page[page.index('type="password"') - 200 : page.index('type="password"') + 400]
    assert 'autocomplete="new-password"' in field
    assert "value=" not in field
    assert row.typed_key_sealed not in page
    assert "Clear the stored key" in page
    assert ("key", "", row.typed_key_told) in [pair for change in Change.objects.all() for pair in change.differences]


def test_saved_without_a_key_the_stored_one_stays(client: Client, endpoint: Endpoint) -> None:
    changes = Change.objects.count()
    assert "was changed successfully" in send(client, f"{endpoint.pk}/change/")
    send(client, f"{endpoint.pk}/change/", base_url="https://api.example.com/v2")
    assert kept() == KEY
    assert Change.objects.count() == changes + 1


def test_a_new_key_takes_its_place(client: Client, endpoint: Endpoint) -> None:
    send(client, f"{endpoint.pk}/change/", new_key="sk-another")
    assert kept() == "sk-another"


def test_a_tick_clears_it(client: Client, endpoint: Endpoint) -> None:
    text = send(client, f"{endpoint.pk}/change/", clear_key="on")
    assert kept() == ""
    assert "no key" in text
    newest = Change.objects.first()
    assert newest
    assert newest.differences == [("key", endpoint.typed_key_told, "")]


@pytest.mark.parametrize("base_url", ["https://evil.example/v1", "https://api.example.com:8443/v1"])
def test_another_host_drops_it_and_says_so(client: Client, endpoint: Endpoint, base_url: str) -> None:
    text = send(client, f"{endpoint.pk}/change/", base_url=base_url)
    assert "The key was dropped: it was typed for https://api.example.com." in text
    assert Endpoint.objects.get().typed_key_sealed == ""


def test_another_host_with_its_own_key_has_that(client: Client, endpoint: Endpoint) -> None:
    assert "was dropped" not in send(client, f"{endpoint.pk}/change/", base_url="https://b.example", new_key="sk-other")
    assert kept() == "sk-other"
    assert Endpoint.objects.get().typed_key_host == "https://b.example"


def test_a_refused_form_stores_nothing_and_gives_the_key_back_to_nobody(client: Client, endpoint: Endpoint) -> None:
    text = send(client, f"{endpoint.pk}/change/", base_url="http://evil.example", new_key="sk-typed-now")
    assert "over https:// alone" in text
    assert "sk-typed-now" not in text
    assert kept() == KEY


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"new_key": "two words"}, "ASCII letters, digits and signs"),
        ({"new_key": "kéy"}, "ASCII letters, digits and signs"),
        ({"new_key": "a\nb"}, "ASCII letters, digits and signs"),
        ({"new_key": "a\0b"}, "Null characters are not allowed"),
        ({"new_key": "x" * 4001}, "at most 4000 characters"),
        ({"new_key": "x", "clear_key": "on"}, "Either type a new key in or clear the stored one"),
        ({"new_key": "x", "protocol": "llm_cli"}, "llm keys set"),
        ({"api_key_env": "BENCHWARMERS_ADMIN_TOKEN"}, "the bench&#x27;s own"),
        ({"api_key_env": "database_url"}, "the bench&#x27;s own"),
    ],
)
def test_what_cannot_be_a_key_is_refused_with_why(client: Client, endpoint: Endpoint, fields: dict[str, str], why: str) -> None:
    assert why in send(client, f"{endpoint.pk}/change/", **fields)
    assert kept() == KEY


def test_a_variable_that_is_set_comes_first_and_is_told(
    client: Client, monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint
) -> None:
    monkeypatch.setenv("A_KEY", "sk-of-the-environment")
    assert "A_KEY is set, and comes before" in send(client, f"{endpoint.pk}/change/", api_key_env="A_KEY", new_key="sk-2")
    monkeypatch.delenv("A_KEY")
    text = shown(client)
    assert "A_KEY is not set" in text
    assert "a key is stored for" in text


def test_a_lost_secret_is_told_on_the_pages_and_a_spoilt_one_takes_no_key(
    client: Client, endpoint: Endpoint, data_folder: Path
) -> None:
    (data_folder / NAME).unlink()
    for path in ("", f"{endpoint.pk}/change/"):
        assert f"cannot be read: the file {NAME} is not in the data folder" in shown(client, path)
    (data_folder / NAME).write_text("")
    assert "No key can be kept" in send(client, f"{endpoint.pk}/change/", new_key="sk-2")
    (data_folder / NAME).unlink()
    send(client, f"{endpoint.pk}/change/", new_key="sk-2")
    assert kept() == "sk-2"


def test_who_may_only_look_can_neither_type_nor_clear(endpoint: Endpoint) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_endpoint"))
    client = Client()
    client.force_login(viewer)
    page = shown(client, f"{endpoint.pk}/change/")
    assert "a key is stored for" in page
    assert 'name="new_key"' not in page
    assert 'name="clear_key"' not in page
    assert "New key" not in page
    form = {**FORM, "new_key": "sk-2", "clear_key": "on"}
    assert client.post(f"/admin/collections_app/endpoint/{endpoint.pk}/change/", form).status_code == 403
    assert kept() == KEY


def test_a_report_of_a_crash_does_not_show_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[Any] = []

    def crash(*_: Any) -> None:
        raise RuntimeError

    def got(request: Any, **_: Any) -> None:
        reported.append(SafeExceptionReporterFilter().get_post_parameters(request))

    monkeypatch.setattr("collections_app.admin.endpoints.store_key", crash)
    client.raise_request_exception = False
    monkeypatch.setattr("django.core.handlers.exception.log_response", lambda *_, request, **__: got(request))
    client.post("/admin/collections_app/endpoint/add/", {**FORM, "new_key": KEY})
    assert [post["new_key"] for post in reported] == ["********************"]
