"""The edge in this process: what leaves it, before any server has had a hand in it."""

import json

import pytest
from asgiref.sync import async_to_sync
from channels.testing import HttpCommunicator

from gateway.edge import Edge
from gateway.routing import json_app, stream_app


def refused(method: str, path: str) -> tuple[int, dict[str, str], bytes]:
    """Send one request; returns status, headers by lower-case name, and body."""

    async def send() -> tuple[int, dict[str, str], bytes]:
        app = Edge(json_app=json_app, stream_app=stream_app, site=json_app, live=json_app)
        sent = HttpCommunicator(app, method, path, headers=[(b"host", b"127.0.0.1:8123")])
        reply = await sent.get_response(10)
        headers = {name.decode().lower(): value.decode() for name, value in reply["headers"]}
        return reply["status"], headers, reply["body"]

    return async_to_sync(send)()


@pytest.mark.parametrize(("path", "status"), [("/v1/nothing", 404), ("/api/chat", 405), ("/v1beta/nothing", 404)])
def test_a_refusal_of_head_is_that_of_get_without_its_body(path: str, status: int) -> None:
    told, headers, body = refused("GET", path)
    assert (told, headers["content-length"]) == (status, str(len(body)))
    assert json.loads(body)["error"]
    told, headers, body = refused("HEAD", path)
    assert (told, headers["content-type"], body) == (status, "application/json", b"")
