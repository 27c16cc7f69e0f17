"""What every page of the dashboard has around it, whatever it shows."""

import re

import pytest
from django.test import Client

from collections_app.models import Collection, Endpoint, LanguageModel
from collections_app.services.members import set_members

pytestmark = pytest.mark.django_db

PAGES = ["/admin/", "/admin/collections_app/collection/", "/admin/collections_app/collection/add/", "/admin/keys/gatewaykey/"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_landmarks_and_a_way_past_the_navigation(client: Client, path: str) -> None:
    page = client.get(path).content.decode()
    assert page.count("<main") == page.count("<header") == 1
    assert page.index('href="#content"') < page.index('aria-label="Dashboard"') < page.index('id="content"')


@pytest.mark.parametrize("path", PAGES)
def test_what_is_pressed_is_a_button(client: Client, path: str) -> None:
    """In the frame, that is: the theme has spans there, which no key reaches."""
    page = client.get(path).content.decode()
    frame = page[: page.index('id="content"')]
    assert [tag for tag in re.findall(r"<(\w+)[^>]*x-on:click=", frame) if tag != "button"] == []


def test_names_keep_their_case_on_the_way_to_a_page(client: Client) -> None:
    endpoint = Endpoint.objects.create(name="local", base_url="http://127.0.0.1:9/v1")
    model = LanguageModel.objects.create(alias="gPT-oss\u202e", endpoint=endpoint, served_id="gpt-oss")
    collection = Collection.objects.create(name="core")
    set_members(collection, [model])
    page = client.get(f"/admin/collections_app/languagemodel/{model.pk}/change/").content.decode()
    way = page[page.index("<h1") : page.index("</h1>")]
    assert "gPT-oss[U+202E]" in way
    assert ">Models</a>" in way
    page = client.get(f"/admin/collections_app/collection/{collection.pk}/change/").content.decode()
    assert ">bench/core<" in page[page.index("<h1") : page.index("</h1>")]


def test_a_browser_that_asks_for_an_icon_gets_it(client: Client) -> None:
    reply = client.get("/favicon.ico", follow=True)
    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "image/svg+xml"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/admin/evidence/tally/trends/", "Trends"),
        ("/admin/evidence/tally/", "Leaderboard"),
        ("/admin/evidence/tally/finds/", "Leaderboard"),
        ("/admin/collections_app/collection/add/", "Collections"),
    ],
)
def test_one_page_alone_is_where_the_reader_is(client: Client, path: str, title: str) -> None:
    page = client.get(path).content.decode()
    (here,) = re.findall(r'<a [^>]*aria-current="page" class="frame-page.*?</a>', page, re.DOTALL)
    assert f"<span>{title}</span>" in here


def test_an_empty_list_says_what_to_do_and_a_narrowed_one_that_nothing_fits(client: Client) -> None:
    page = client.get("/admin/collections_app/languagemodel/").content.decode()
    assert "Nobody can sit yet. Onboarding goes from a provider" in page
    page = client.get("/admin/collections_app/languagemodel/?q=nobody").content.decode()
    assert "Nothing fits" in page
    assert "Nobody can sit yet" not in page
    page = client.get("/admin/keys/gatewaykey/").content.decode()
    assert "The gateway asks for none: every caller is local." in page
