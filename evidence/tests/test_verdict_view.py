from types import SimpleNamespace

import pytest
from rest_framework.test import APIRequestFactory

from evidence.models import Verdict
from evidence.tests.rows import end, make_panel
from evidence.views import VerdictView
from keys.services import LOCAL, Caller

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def plain_refusals(settings):
    """What a refusal looks like is the gateway's; here its status and words are looked at."""
    settings.REST_FRAMEWORK = settings.REST_FRAMEWORK | {"EXCEPTION_HANDLER": "rest_framework.views.exception_handler"}


@pytest.fixture
def judge():
    """Send a verdict as the edge hands it on; returns status and body."""

    def send(payload, caller=LOCAL):
        request = APIRequestFactory().post("/bench/verdict", {}, format="json")
        request.scope = {"bench": SimpleNamespace(caller=caller, payload=payload)}
        response = VerdictView.as_view()(request)
        return response.status_code, response.data

    return send


def test_a_verdict_is_taken_once(judge):
    call_id = end(make_panel())
    verdict = {"call": call_id, "useful": True, "note": "checked", "real": ["bug on line 3"], "false": ["bug on line 9"]}
    assert judge(verdict) == (200, {"ok": True, "written": True, "call": call_id})
    assert judge(verdict) == (200, {"ok": True, "written": False, "call": call_id})
    assert Verdict.objects.get().real == ["bug on line 3"]


def test_the_caller_is_whom_the_edge_found(judge):
    call_id = end(make_panel(asked_by="app"))
    status, body = judge({"call": call_id, "useful": True}, Caller("stranger"))
    assert status == 403
    assert "another caller" in body["detail"]
    assert judge({"call": call_id, "useful": True}, Caller("app"))[0] == 200
    assert Verdict.objects.get().given_by == "app"


def test_no_caller_is_made_up_for_a_request_that_never_met_the_edge():
    call_id = end(make_panel())
    request = APIRequestFactory().post("/bench/verdict", {"call": call_id, "useful": True}, format="json")
    with pytest.raises(AttributeError):
        VerdictView.as_view()(request)
    assert not Verdict.objects.exists()


@pytest.mark.parametrize(
    "payload,status",
    [
        ({"call": "p20260101-nope.member1", "useful": True}, 404),
        ({"useful": True}, 400),
        ({"call": "x"}, 400),
        ({"call": "x", "useful": "yes"}, 400),
        ({"call": 5, "useful": True}, 400),
        (None, 400),
        ([], 400),
    ],
)
def test_a_bad_verdict_is_refused_and_writes_nothing(judge, payload, status):
    assert judge(payload)[0] == status
    assert not Verdict.objects.exists()
