"""One of several web processes is stopped: it leaves who comes next to the others, and answers whoever had come."""

import http.client
import json
import signal
import socket
import threading
import time
from contextlib import ExitStack, closing, suppress

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import eventually, needs_redis
from gateway.tests.running_server import RunningServer
from gateway.tests.web_bench import web_bench

pytestmark = needs_redis

MODELS = {"fast": {"model": "say-done"}, "late": {"model": "slow-7"}}
COLLECTIONS = {"short": ["fast"], "long": ["fast", "late"]}
BODY = json.dumps({"model": "bench/short", "messages": [{"role": "user", "content": "Half of it."}]})


@pytest.fixture
def web(upstream, tmp_path):
    bench = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with web_bench(tmp_path, bench, processes=1, BENCH_DRAIN_SECONDS="20") as several:
        yield several.servers[0]


def connected(web: RunningServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", web.port), timeout=30)


def listens(web: RunningServer) -> bool:
    try:
        connected(web).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.fixture
def streaming(web):
    """A panel of which one seat has answered and the other has not; its stream, once that has ended."""
    replies: list = []
    thread = threading.Thread(target=lambda: replies.append(web.chat("bench/long", stream=True)))
    thread.start()
    eventually(lambda: statuses(web) == ["ok", "running"])

    def ended() -> bytes:
        thread.join()
        return replies[0].body

    return ended


def statuses(web: RunningServer) -> list[str]:
    return [status for (status,) in web.rows("select status from evidence_call order by id")]


def test_it_listens_no_more_and_ends_what_it_had_begun(web, streaming):
    web.process.send_signal(signal.SIGTERM)
    eventually(lambda: not listens(web))
    assert statuses(web) == ["ok", "running"]
    assert streaming().endswith(b"data: [DONE]\n\n")
    assert statuses(web) == ["ok", "ok"]
    assert web.process.wait(30) == 0


def test_it_hangs_up_where_nothing_is_asked(web, streaming):
    with closing(http.client.HTTPConnection("127.0.0.1", web.port, timeout=30)) as idle, connected(web) as unused:
        idle.request("GET", "/healthz")
        assert idle.getresponse().read()
        web.process.send_signal(signal.SIGTERM)
        assert (idle.sock.recv(1), unused.recv(1)) == (b"", b"")
        assert statuses(web) == ["ok", "running"]
    assert streaming().endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    "sent", ["POST /v1/chat/comp", "Host: ", "\r\n\r\n{"], ids=["in its line", "in its headers", "in its body"]
)
def test_a_request_that_had_begun_to_come_has_its_panel_and_is_told_that_the_connection_ends(web, sent):
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nContent-Type: application/json\r\n"
    whole = f"{head}Content-Length: {len(BODY)}\r\n\r\n{BODY}"
    came = whole[: whole.index(sent) + len(sent)].encode()
    with connected(web) as began, connected(web) as idle:
        began.sendall(came)
        # One after the other: what was sent first has been read when the second is answered.
        assert web.request("GET", "/healthz").status == 200
        web.process.send_signal(signal.SIGTERM)
        # By then it has hung up on whoever did not ask, and then waits for nobody else.
        assert idle.recv(1) == b""
        time.sleep(1.5)
        began.sendall(whole.encode().removeprefix(came))
        with http.client.HTTPResponse(began) as reply:
            reply.begin()
            assert (reply.status, reply.headers["Connection"]) == (200, "close")
            assert json.loads(reply.read())["bench"]["seats"][0]["status"] == "ok"
        assert began.recv(1) == b""


def test_nobody_is_refused_who_asks_on_a_connection_that_was_kept(web):
    """Each asks at another moment of those in which it hangs up: it is answered, or hung up on before it was read."""
    asked = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nContent-Type: application/json\r\n"
    asked += f"Content-Length: {len(BODY)}\r\n\r\n{BODY}"
    with ExitStack() as stack:
        kept = [stack.enter_context(connected(web)) for _ in range(100)]
        # Taken one after the other: all are when the last is answered.
        assert web.request("GET", "/healthz").status == 200
        web.process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        for number, connection in enumerate(kept):
            time.sleep(max(0.0, began + 0.8 + number * 0.006 - time.monotonic()))
            with suppress(OSError):
                connection.sendall(asked.encode())
        assert {b"200"} <= {status_on(connection) for connection in kept} <= {b"", b"200"}


def status_on(connection: socket.socket) -> bytes:
    """What a reply begins with; nothing where there is none."""
    try:
        return connection.recv(1000)[9:12]
    except ConnectionResetError:
        return b""
