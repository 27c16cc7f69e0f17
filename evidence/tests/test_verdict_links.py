import re
import time
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from evidence.links import LINK_DAYS, link_path
from evidence.links import signing as links
from evidence.models import Verdict
from evidence.pruning import prune_panels
from evidence.services import record_verdict
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser():
    """A chat window's browser: nobody is logged in, no cookie is kept, and forms are checked for their origin."""
    return Client(enforce_csrf_checks=True, REMOTE_ADDR="192.0.2.7")


@pytest.fixture
def call_id():
    return end(make_panel(asked_by="editor-plugin"))


def link(call_id, *, useful=True, asked_at=None):
    return link_path(call_id, useful=useful, asked_at=time.time() if asked_at is None else asked_at)


def words(reply):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", reply.content.decode()))


@pytest.mark.parametrize("useful", [True, False])
def test_a_click_and_a_confirmation_give_the_askers_verdict(browser, call_id, useful, settings):
    settings.BENCHWARMERS_ADMIN_TOKEN, settings.BENCHWARMERS_REQUIRE_KEYS = "a-token-of-16-characters", True
    asked = browser.get(link(call_id, useful=useful))
    assert asked.status_code == 200
    assert f"Yes, it was {'useful' if useful else 'not useful'}" in words(asked)
    assert not Verdict.objects.exists()
    done = browser.post(link(call_id, useful=useful))
    assert done.status_code == 200 and "Saved" in words(done)
    verdict = Verdict.objects.get()
    assert (verdict.useful, verdict.given_by, verdict.call.call_id) == (useful, "editor-plugin", call_id)
    assert not browser.cookies


def test_looking_writes_nothing_however_often(browser, call_id):
    for method in ("get", "head", "get"):
        getattr(browser, method)(link(call_id))
    assert browser.put(link(call_id)).status_code == 405
    assert not Verdict.objects.exists()


def test_a_link_works_once(browser, call_id):
    first, second = link(call_id), link(call_id, useful=False)
    browser.post(first)
    for again in (browser.get(first), browser.post(first)):
        assert again.status_code == 410
        assert "This link has been used" in words(again)
    # Who changes their mind has the other link, and then has used both.
    assert browser.post(second).status_code == 200
    assert browser.post(first).status_code == 410
    assert [verdict.useful for verdict in Verdict.objects.order_by("pk")] == [True, False]


def test_what_was_said_with_reasons_is_not_said_again_without(browser, call_id):
    record_verdict(call_id=call_id, given_by="editor-plugin", useful=True, note="It names the lock.")
    assert browser.post(link(call_id)).status_code == 410
    assert Verdict.objects.get().note == "It names the lock."


def test_who_agrees_with_somebody_elses_verdict_does_not_lose_its_claims(browser, call_id):
    record_verdict(call_id=call_id, given_by="operator", judges_all=True, useful=True, real=["the lock"])
    for reply in (browser.get(link(call_id)), browser.post(link(call_id))):
        assert reply.status_code == 410 and "judged useful already" in words(reply)
    assert Verdict.objects.get().real == ["the lock"]
    # Who does not agree says so.
    assert browser.post(link(call_id, useful=False)).status_code == 200


def test_a_link_expires(browser, call_id):
    day = 86_400
    assert browser.get(link(call_id, asked_at=time.time() - LINK_DAYS * day + 60)).status_code == 200
    late = link(call_id, asked_at=time.time() - LINK_DAYS * day - 60)
    for reply in (browser.get(late), browser.post(late)):
        assert reply.status_code == 410 and "expired" in words(reply)
    assert not Verdict.objects.exists()


def test_a_link_that_was_changed_is_none(browser, call_id):
    good = link(call_id)
    other = end(make_panel())
    changed = [
        good.replace("~useful~", "~not-useful~"),
        good.replace(call_id, other),
        re.sub(r"~(\d+)~", lambda ends: f"~{int(ends[1]) + 1}~", good),
        good[:-3] + "/",
        "/verdict/x/",
        "/verdict/~~~/",
        "/verdict/%00%E2%80%AE/",
        "/verdict/" + "a" * 5000 + "/",
    ]
    for path in changed:
        for reply in (browser.get(path), browser.post(path)):
            assert reply.status_code == 404, path
            assert "no link of this server" in words(reply)
    assert not Verdict.objects.exists()


def test_another_signature_of_this_server_is_no_link(browser, call_id):
    value = links._BETWEEN.join((call_id, "useful", str(int(time.time()) + 1000)))
    assert browser.post(f"/verdict/{links.Signer(sep='~').sign(value)}/").status_code == 404


def test_a_link_to_what_the_log_has_forgotten(browser):
    call_id = end(make_panel(("member1", "fast"), minutes_ago=60 * 24 * 40))
    prune_panels(timezone.now() - timedelta(days=30))
    reply = browser.post(link(call_id))
    assert reply.status_code == 404 and "not in the call log any more" in words(reply)


def test_a_link_names_no_key_and_its_page_shows_no_answer(browser):
    panel = make_panel(("member1", "fast"), request="user: a secret plan", asked_by="editor-plugin")
    path = link(end(panel, answer="the secret answer"))
    page = browser.get(path)
    assert "editor-plugin" not in path + words(page)
    assert "secret" not in words(page)
    assert page.headers["Cache-Control"] == "private, no-store"
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]


def test_links_are_the_same_each_time_a_reply_is_told(call_id):
    assert link(call_id, asked_at=1000.4) == link(call_id, asked_at=1000.9)
