"""The edge in this process: what leaves it, before any server has had a hand in it."""

import gc
import json
import weakref
from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from channels.testing import HttpCommunicator

from gateway.edge import COLLECT_AFTER, Edge
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


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def test_what_large_requests_leave_in_cycles_goes_by_their_bytes(no_collector: None) -> None:
    class Left:
        pass

    async def send(app: Edge, size: int) -> None:
        headers = [(b"host", b"127.0.0.1:8123"), (b"content-type", b"application/json")]
        reply = await HttpCommunicator(app, "POST", "/v1/chat/completions", b" " * size, headers).get_response(10)
        assert reply["status"] == 400

    async def sent() -> tuple[bool, bool]:
        app = Edge(json_app=json_app, stream_app=stream_app, site=json_app, live=json_app)
        left = Left()
        left.itself = left
        gone = weakref.ref(left)
        del left
        await send(app, COLLECT_AFTER // 2)
        kept = gone() is not None
        await send(app, COLLECT_AFTER // 2)
        return kept, gone() is None

    assert async_to_sync(sent)() == (True, True)
