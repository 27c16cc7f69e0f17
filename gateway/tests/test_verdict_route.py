"""POST /bench/verdict through the edge, in this process."""

import json

import pytest
from asgiref.sync import async_to_sync
from channels.testing import HttpCommunicator

from evidence.models import Verdict
from evidence.tests.rows import end, make_panel
from gateway.edge import Edge
from gateway.routing import json_app, stream_app

# The view runs in a thread with a connection of its own, which sees only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


def request(method, body=b"", content_type="application/json"):
    """Send one request to the gateway; returns status, headers and body."""
    headers = [(b"host", b"127.0.0.1:8123"), (b"content-type", content_type.encode())]
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def send():
        app = Edge(json_app=json_app, stream_app=stream_app, site=json_app, live=json_app)
        response = await HttpCommunicator(app, method, "/bench/verdict", body=raw, headers=headers).get_response(10)
        return response["status"], dict(response["headers"]), json.loads(response["body"])

    return async_to_sync(send)()


def test_a_verdict_is_taken_once():
    call_id = end(make_panel())
    verdict = {"call": call_id, "useful": False, "note": "no", "real": [], "false": ["line 9"]}
    for written in (True, False):
        status, _, body = request("POST", verdict)
        assert (status, body) == (200, {"ok": True, "written": written, "call": call_id})
    assert Verdict.objects.get().false == ["line 9"]


@pytest.mark.parametrize(
    "body,status,words",
    [
        ({"call": "p20260101-nope.member1", "useful": True}, 404, "no call 'p20260101-nope.member1'"),
        ({"call": "x", "useful": "yes"}, 400, "useful: must be true or false."),
        ({"call": "x", "usefull": True}, 400, "usefull: no such field; did you mean useful?"),
        (b"null", 400, "a verdict is a JSON object"),
        (b'{"call": "x", "useful": true, "real": ' + b"[" * 900 + b"]" * 900 + b"}", 400, "real[0]: must be a string."),
        (b"[" * 100_000, 400, "not valid JSON"),
        (b'{"call": "\xff"}', 400, "not valid JSON"),
        (b'{"call": "x", "useful": true, "score": NaN}', 400, "not valid JSON"),
        (b'{"call": "x", "useful": true, "note": "' + b"x" * 1_000_000 + b'"}', 400, "note: at most 10000 characters."),
    ],
    ids=["unknown", "type", "misspelt", "null", "nested", "brackets", "utf8", "nan", "megabyte"],
)
def test_a_refusal_has_the_gateways_error_body(body, status, words):
    answered, headers, refusal = request("POST", body)
    assert (answered, headers[b"Content-Type"]) == (status, b"application/json")
    assert words in refusal["error"]["message"]
    assert not Verdict.objects.exists()


def test_other_methods_are_refused_in_json():
    status, headers, body = request("GET")
    assert (status, headers[b"Allow"]) == (405, b"POST")
    assert "error" in body


def test_a_running_call_is_refused_until_it_ends():
    panel = make_panel()
    call_id = f"{panel.panel_id}.member1"
    status, _, body = request("POST", {"call": call_id, "useful": True})
    assert status == 400
    assert "still running" in body["error"]["message"]
    end(panel)
    assert request("POST", {"call": call_id, "useful": True})[0] == 200
