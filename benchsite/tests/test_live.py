"""The dashboard's live channel: open pages hear of panels, and nobody else gets in."""

import asyncio
import json
import re
import time
from urllib.parse import urlencode

import pytest
from autobahn.exception import Disconnected
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchsite.dashboard.live import LiveConsumer
from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import eventually
from gateway.tests.running_server import RunningServer, running_server

TOKEN = "a-token-of-24-characters"


@pytest.fixture(scope="module")
def server(loud_upstream, tmp_path_factory):
    bench = bench_file(
        loud_upstream.url, {"fast": {"model": "say-done"}, "late": {"model": "slow-0.5"}}, {"two": ["fast", "late"]}
    )
    with running_server(tmp_path_factory.mktemp("live"), bench) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(loud_upstream, tmp_path_factory):
    bench = bench_file(loud_upstream.url, {"fast": {"model": "say-done"}}, {"one": ["fast"]})
    with running_server(tmp_path_factory.mktemp("guarded"), bench, BENCHWARMERS_ADMIN_TOKEN=TOKEN) as running:
        yield running


def live(server: RunningServer, *, origin: str | None = None, path: str = "/admin/live/", **headers: str):
    return connect(
        f"ws://127.0.0.1:{server.port}{path}",
        origin=origin or server.base_url,  # type: ignore[arg-type]
        additional_headers=headers,
        open_timeout=10,
        proxy=None,
    )


def refused(server: RunningServer, **how: str) -> int:
    async def tried() -> int:
        try:
            async with live(server, **how):
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    return asyncio.run(tried())


def test_a_page_hears_of_a_panel_as_its_seats_end(server):
    async def heard() -> list[str]:
        async with live(server) as page:
            asking = asyncio.create_task(asyncio.to_thread(server.chat, "bench/two"))
            said = [json.loads(await asyncio.wait_for(page.recv(), 10)) for _ in range(3)]
            panel = (await asking).json["bench"]["panel"]
        assert said == [{"panel": panel}] * 3
        return said

    asyncio.run(heard())


@pytest.mark.parametrize(
    "how",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"Host": "evil.example"},
        {"path": "/admin/"},
        {"path": "/v1/models"},
        {"path": "/admin/live/x"},
    ],
)
def test_no_other_page_gets_in_and_no_other_address_speaks_it(server, how):
    assert refused(server, **how) in (200, 301, 403, 404)


def log_in(server: RunningServer) -> str:
    """Log in with the token; returns the cookies."""
    page = server.request("GET", "/admin/login/")
    csrf = page.headers["set-cookie"].partition(";")[0]
    sent = urlencode({"token": TOKEN, "csrfmiddlewaretoken": csrf.partition("=")[2]}).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": csrf}
    reply = server.request("POST", "/admin/login/", raw=sent, headers=headers)
    assert reply.status == 302
    found = re.search(r"bench_session_\d+=[^;]+", reply.headers["set-cookie"])
    assert found
    return found[0]


def test_with_a_token_only_who_is_logged_in_listens(guarded):
    assert refused(guarded) == 403
    assert refused(guarded, Cookie=f"bench_session_{guarded.port}=planted") == 403
    assert refused(guarded, Cookie=log_in(guarded)) == 101


def test_a_page_that_listens_does_not_hold_up_a_stop(server):
    async def stopped() -> float:
        async with live(server):
            began = time.monotonic()
            assert await asyncio.to_thread(server.stop) == 0
            return time.monotonic() - began

    try:
        assert asyncio.run(stopped()) < 10
    finally:
        server.start()


def test_each_page_that_listened_is_a_line_of_the_access_log(server, guarded):
    async def came_and_went() -> None:
        async with live(server):
            pass

    asyncio.run(came_and_went())
    assert refused(guarded) == 403
    for bench, status in ((server, 101), (guarded, 403)):
        line = re.compile(rf"bench.access: GET /admin/live/ {status} [\d.]+ ms -$", re.MULTILINE)
        # Written once the page has been answered, which may be a moment after it has heard.
        eventually(lambda line=line, bench=bench: line.search(bench.log))


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via", "CF-Connecting-IP", "True-Client-IP"])
def test_a_guest_through_a_proxy_is_not_this_machines_own(server, header):
    assert refused(server, **{header: "203.0.113.7"}) == 403


def test_this_machines_user_listens_while_it_may_see_the_dashboard(server):
    assert refused(server) == 101
    for active, status in ((False, 403), (True, 101)):
        with server.database() as database:
            assert database.execute("update auth_user set is_active = ? where username = 'local'", [active]).rowcount == 1
        assert refused(server) == status


def test_a_page_that_has_just_closed_its_end_is_no_error():
    """Daphne ends a consumer that raises without having it leave the group."""

    async def closed(message: dict) -> None:
        raise Disconnected("Attempt to send on a closed protocol")

    page = LiveConsumer()
    page.base_send = closed
    asyncio.run(page.panel_changed({"type": "panel.changed", "panel": "p20261130-065542-0001"}))
