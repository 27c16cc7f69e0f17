"""The dashboard's error pages: our own, the same for every request, with nothing of it in them."""

import pytest
from auditlog.models import LogEntry
from django.forms.models import model_to_dict
from django.template.loader import render_to_string
from django.test import Client, override_settings

from benchsite.tests.marked_requests import QUIET_HEADERS, mark, marked
from collections_app.models import Change

pytestmark = pytest.mark.django_db

HEADERS = {name: mark(name) for name in QUIET_HEADERS}
ASKED = {"query_params": {"key": mark("query")}, "headers": HEADERS}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nowhere", 404),
        ("/fail/Http404", 404),
        ("/fail/PermissionDenied", 403),
        ("/fail/BadRequest", 400),
        ("/fail/SuspiciousOperation", 400),
        ("/fail/ValueError", 500),
    ],
)
@override_settings(ROOT_URLCONF="benchsite.tests.failing_site")
def test_a_page_that_cannot_be_shown_says_so_in_our_words(path, status):
    reply = Client(raise_request_exception=False).get(path, **ASKED)
    assert reply.status_code == status
    assert reply.content.decode() == render_to_string(f"{status}.html")


def test_a_form_from_elsewhere_is_refused_in_our_words():
    reply = Client(enforce_csrf_checks=True).post("/admin/login/", {"password": mark("body")}, **ASKED)
    assert reply.status_code == 403
    assert reply.content.decode() == render_to_string("403_csrf.html")


def test_a_page_that_the_dashboard_has_not_is_refused_in_our_words():
    reply = Client().get("/admin/nowhere/", **ASKED)
    assert reply.status_code == 404
    assert reply.content.decode() == render_to_string("404.html")


@pytest.mark.parametrize("page", ["400", "403", "403_csrf", "404", "500"])
def test_a_page_stands_alone(page):
    """It needs no script, style or image, is read by a phone, and leads back."""
    text = render_to_string(f"{page}.html")
    assert text.strip().startswith("<!doctype html>")
    assert "<h1>" in text and 'name="viewport"' in text and 'href="/admin/"' in text
    assert [word for word in ("<script", "<link", "<img", "style") if word in text] == []


def test_a_change_is_kept_without_what_its_request_said_of_itself():
    Client().post("/admin/collections_app/limits/1/change/", {"max_calls": "4", "max_explorers": "2"}, **ASKED)
    assert Change.objects.count() == 1
    assert [marked(str(model_to_dict(entry))) for entry in LogEntry.objects.all()] == [set()]
