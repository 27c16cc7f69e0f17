import re

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evidence.models import Verdict
from evidence.services import record_verdict
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db
LIST = "/admin/evidence/panel/"
FRAGMENT = {"X-Bench-Fragment": "1"}


@pytest.fixture
def judge(client):
    """A browser of somebody who may look at panels and judge them."""
    user = get_user_model().objects.create_user("ada", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=("view_panel", "add_verdict")))
    client.force_login(user)
    return client


@pytest.fixture
def panel():
    panel = make_panel(asked_by="editor-plugin")
    end(panel)
    end(panel, "explorer1", status="error", error_kind="timeout", error="no answer in 420 s", answer="")
    return panel


def address(panel, key="member1", query=""):
    return f"{LIST}{panel.pk}/seat/{key}/verdict/{query}"


def page_of(judge, panel, query=""):
    return judge.get(f"{LIST}{panel.pk}/change/{query}").content.decode()


def test_a_verdict_is_saved_under_the_name_of_who_is_logged_in(judge, panel):
    sent = {
        "useful": "yes",
        "note": "It names the lock.",
        "real": "the lock is taken twice\r\n\r\n  it is never given back \r\n",
        "false": "it is a mutex",
        "score": "0.75",
        "correction": "line one\r\nline two",
    }
    reply = judge.post(address(panel), sent)
    assert (reply.status_code, reply.headers["Location"]) == (302, f"{LIST}{panel.pk}/change/#member1")
    verdict = Verdict.objects.get()
    assert (verdict.call.seat_name, verdict.useful, verdict.given_by) == ("member1", True, "ada")
    assert (verdict.note, verdict.score, verdict.correction) == ("It names the lock.", 0.75, "line one\nline two")
    assert verdict.real == ["the lock is taken twice", "it is never given back"]
    assert verdict.false == ["it is a mutex"]
    assert "fast judged useful." in page_of(judge, panel)


def test_the_form_holds_the_verdict_that_counts(judge, panel):
    said = {"note": "a <b>note", "real": ["one", "two\nlines"], "score": 0.5, "correction": "\n\nmine"}
    record_verdict(call_id=f"{panel.panel_id}.member1", given_by="local", useful=False, **said)
    page = page_of(judge, panel)
    assert "a &lt;b&gt;note</textarea>" in page
    assert "one\ntwo lines</textarea>" in page
    assert 'name="score" value="0.5"' in page
    assert re.search(r'value="no"[^>]*aria-pressed="true"', page)
    assert not re.search(r'value="yes" id="member1-useful" aria-pressed="true"', page)


def test_the_same_verdict_again_writes_nothing(judge, panel):
    for _ in range(2):
        judge.post(address(panel), {"useful": "no", "note": "n"})
    assert Verdict.objects.count() == 1
    assert "nothing was written" in page_of(judge, panel)


def test_another_verdict_replaces_it_and_the_earlier_is_shown(judge, panel):
    judge.post(address(panel), {"useful": "no", "note": "at first sight"})
    judge.post(address(panel), {"useful": "yes", "note": "on reflection"})
    page = page_of(judge, panel)
    assert "Earlier verdicts (1)" in page
    assert page.index("on reflection") < page.index("at first sight")
    assert Verdict.objects.get(replaced_at=None).note == "on reflection"


def test_of_many_earlier_verdicts_the_latest_are_shown_in_as_many_queries(judge, panel):
    judge.post(address(panel), {"useful": "yes", "note": "n0"})
    with CaptureQueriesContext(connection) as few:
        page_of(judge, panel)
    for number in range(1, 30):
        record_verdict(call_id=f"{panel.panel_id}.member1", given_by="local", useful=True, note=f"n{number}")
    with CaptureQueriesContext(connection) as many:
        page = page_of(judge, panel)
    assert len(few) == len(many)
    assert "n29" in page and "n19" in page and "n18" not in page


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "Say whether it was useful."),
        ({"useful": "maybe"}, "Say whether it was useful."),
        ({"useful": "yes", "score": "2"}, "score: must be a number from 0 to 1."),
        ({"useful": "yes", "score": "nan"}, "score: must be a number from 0 to 1."),
        ({"useful": "yes", "score": "high"}, "score: must be a number from 0 to 1."),
        ({"useful": "yes", "note": "x" * 10_001}, "note: at most 10000 characters."),
        ({"useful": "yes", "real": "a\n" * 101}, "real: "),
        ({"useful": "yes", "note": "a\x00b"}, "note: "),
    ],
)
@pytest.mark.parametrize("headers", [{}, FRAGMENT])
def test_what_cannot_be_taken_is_said_and_what_was_typed_stays(judge, panel, sent, said, headers):
    typed = {"correction": "half an hour's work"} | sent
    reply = judge.post(address(panel), typed, headers=headers)
    page = reply.content.decode()
    assert reply.status_code == (200 if headers else 400)
    assert ("<html" in page) == (not headers)
    assert f'role="alert" id="member1-error">{said}' in page
    assert "half an hour&#x27;s work</textarea>" in page
    assert not Verdict.objects.exists()


def test_a_score_may_have_a_comma(judge, panel):
    judge.post(address(panel), {"useful": "yes", "score": "0,5"})
    assert Verdict.objects.get().score == 0.5


def test_a_page_with_scripts_gets_the_seat_as_it_then_is(judge, panel):
    page = judge.post(address(panel), {"useful": "yes"}, headers=FRAGMENT).content.decode()
    assert 'data-said="fast judged useful."' in page
    assert re.findall(r'data-seat="(\w+)"', page) == ["member1"]
    assert "1 given, 0 owed" in page
    assert "<html" not in page


def test_a_seats_own_page_is_come_back_to(judge, panel):
    reply = judge.post(address(panel), {"useful": "yes", "back": "seat"})
    assert reply.headers["Location"] == f"{LIST}{panel.pk}/seat/member1/"
    page = judge.get(reply.headers["Location"]).content.decode()
    assert 'name="back" value="seat"' in page


def test_judged_blind_the_name_comes_with_the_verdict(judge, panel):
    key = re.search(r'data-seat="(\w+)" data-status="ok"', page_of(judge, panel, "?blind=1"))[1]
    page = judge.post(address(panel, key, "?blind=1"), {"useful": "yes"}, headers=FRAGMENT).content.decode()
    assert re.search(r'data-said="Answer [AB] judged useful."', page)
    # The one that failed shows its name too, now that nothing is left to judge.
    assert "fast" in page and "slow" in page
    reply = judge.post(address(panel, key, "?blind=1"), {"useful": "no"})
    assert reply.headers["Location"] == f"{LIST}{panel.pk}/change/?blind=1#{key}"


def test_a_running_seat_has_no_form_and_takes_no_verdict(judge):
    panel = make_panel()
    assert "verdict-form" not in page_of(judge, panel)
    reply = judge.post(address(panel), {"useful": "yes"})
    assert reply.status_code == 400
    assert not Verdict.objects.exists()


def test_who_may_only_look_judges_nothing(client, panel):
    reader = get_user_model().objects.create_user("reader", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_panel"))
    client.force_login(reader)
    assert client.post(address(panel), {"useful": "yes"}).status_code == 403
    assert not Verdict.objects.exists()


def test_a_link_judges_nothing_and_another_site_neither(judge, panel):
    assert judge.get(address(panel), {"useful": "yes"}).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(get_user_model().objects.get(username="ada"))
    assert strict.post(address(panel), {"useful": "yes"}).status_code == 403
    assert not Verdict.objects.exists()


def test_no_such_seat(judge, panel):
    assert judge.post(address(panel, "member9"), {"useful": "yes"}).status_code == 404
