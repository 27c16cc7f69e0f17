"""The Alerts page: what is open first, with what to do and where; resolved by one click, counted beside every page."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collections_app.models import Alert, Endpoint
from collections_app.services.alerts import raise_alert
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db

URL = "/admin/collections_app/alert/"
# The session's user, the badge, how many there are and are open, the page of them, the models they are about.
QUERIES = 6


def page(client: Client, query: str = "") -> str:
    reply = client.get(URL + query)
    assert reply.status_code == 200
    return reply.content.decode()


def tell(about: str = "a-model", *, kind: str = "gone", endpoint: Endpoint | None = None, **words: str) -> Alert:
    raise_alert(kind, endpoint, about, **{"message": f"{about} is gone.", "to_do": "Choose another.", **words})
    return Alert.objects.get(kind=kind, endpoint=endpoint, about=about, resolved_at=None)


def test_an_alert_says_what_happened_what_to_do_and_where_and_is_resolved_by_one_click(client: Client) -> None:
    groq = make_endpoint("groq")
    model = make_model("fast", endpoint=groq, served_id="a-model")
    alert = tell(endpoint=groq, kind="went_paid", message="a-model was free and now costs $1 in.", to_do="Retire fast.")
    text = page(client)
    for shown in ("went paid", "a-model was free and now costs $1 in.", "Retire fast."):
        assert shown in text, shown
    for link in (f"languagemodel/{model.pk}/change/", f"endpoint/{groq.pk}/change/"):
        assert f'href="/admin/collections_app/{link}"' in text, link
    assert "Resolved</h2>" not in text
    reply = client.post(f"{URL}{alert.pk}/resolve/", follow=True)
    assert reply.redirect_chain == [(URL, 302)]
    alert.refresh_from_db()
    assert alert.resolved_at
    text = reply.content.decode()
    assert "Nothing asks for you" in text
    assert "Resolved</h2>" in text
    assert "Resolve</button>" not in text


def test_open_ones_come_first_however_old_they_are(client: Client) -> None:
    tell("old-and-open")
    Alert.objects.update(opened_at=timezone.now() - timedelta(days=30))
    now = timezone.now()
    Alert.objects.bulk_create(
        Alert(kind="gone", about=f"new-and-over-{n}", message="m", to_do="t", opened_at=now, resolved_at=now) for n in range(60)
    )
    text = page(client)
    assert text.index("old-and-open") < text.index("new-and-over")


def test_an_alert_about_a_source_or_a_limit_leads_to_its_page(client: Client) -> None:
    tell("endpoint:groq", kind="stale_source")
    tell("*:free", kind="quota_low", endpoint=make_endpoint("openrouter"))
    text = page(client)
    assert 'href="/admin/collections_app/catalogsource/?source=endpoint%3Agroq"' in text
    assert 'href="/admin/collections_app/cooldown/">Limits left</a>' in text


def test_the_navigation_counts_what_is_open_and_nothing_where_nothing_is(client: Client) -> None:
    front = "/admin/"
    assert " open</span>" not in client.get(front).content.decode()
    tell("one")
    other = tell("other")
    assert "2 open</span>" in client.get(front).content.decode()
    client.post(f"{URL}{other.pk}/resolve/")
    assert "1 open</span>" in client.get(front).content.decode()


def test_looking_resolves_nothing_and_resolving_needs_a_token_of_the_page(client: Client) -> None:
    alert = tell()
    assert client.get(f"{URL}{alert.pk}/resolve/").status_code == 405
    assert Client(enforce_csrf_checks=True).post(f"{URL}{alert.pk}/resolve/").status_code == 403
    assert Alert.objects.filter(resolved_at=None).exists()


@pytest.mark.parametrize("target", ["0", "x", "99999999999999999999", "٣"])
def test_what_is_not_there_is_not_resolved(client: Client, target: str) -> None:
    tell()
    assert client.post(f"{URL}{target}/resolve/").status_code == 404


def test_resolving_twice_is_told(client: Client) -> None:
    alert = tell()
    client.post(f"{URL}{alert.pk}/resolve/")
    assert "It was resolved already." in client.post(f"{URL}{alert.pk}/resolve/", follow=True).content.decode()


def test_staff_who_may_only_look_have_no_button_and_are_refused(client: Client, settings: Any) -> None:
    settings.BENCHWARMERS_ADMIN_TOKEN = "a-token-of-24-characters"
    guest = User.objects.create_user("guest", password="x", is_staff=True)
    client.force_login(guest)
    alert = tell()
    assert client.get(URL).status_code == 403
    guest.user_permissions.add(Permission.objects.get(codename="view_alert"))
    assert "Resolve</button>" not in page(client)
    assert client.post(f"{URL}{alert.pk}/resolve/").status_code == 403


def test_what_others_wrote_is_text_with_its_marks_spelt_out(client: Client) -> None:
    hostile = '"><script>alert(1)</script>\u202egnp'
    make_model("fast", endpoint=make_endpoint("groq"), served_id=hostile)
    tell(hostile, endpoint=make_endpoint("groq"), message=f"<img src=x onerror=alert(1)>{hostile}", to_do=f"<b>{hostile}")
    resolved = tell(f"{hostile}2", kind="stale_source")
    client.post(f"{URL}{resolved.pk}/resolve/")
    text = page(client)
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "<b>&quot;" not in text
    assert "\u202e" not in text
    assert "[U+202E]gnp" in text


def test_a_page_costs_the_same_however_many_there_are(client: Client) -> None:
    page(client)  # the first page of all makes the user `local`
    for number in range(130):
        endpoint = make_endpoint(f"endpoint-{number % 9}")
        make_model(f"model-{number}", endpoint=endpoint, served_id=f"served-{number}")
        tell(f"served-{number}", endpoint=endpoint)
    with CaptureQueriesContext(connection) as queries:
        text = page(client, "?page=2")
    assert len(queries) <= QUERIES
    assert "Page 2 of 3" in text
    assert text.count("Resolve</button>") == 50


@pytest.mark.parametrize("query", ["?page=0", "?page=x", "?page=999999999999", "?page=%00", "?" + "a" * 3000])
def test_a_query_that_makes_no_sense_is_a_page_all_the_same(client: Client, query: str) -> None:
    tell()
    assert "a-model" in page(client, query)
