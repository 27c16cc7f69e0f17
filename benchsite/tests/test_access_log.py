"""The access log: a line for each request, with its route, how it ended, how long it took and whose key it was."""

import asyncio
import io
import logging
import re
import time
from types import SimpleNamespace
from weakref import WeakSet

import pytest
from daphne.http_protocol import HTTPFactory
from django.urls import get_resolver

from benchsite.http.request import use_bench_requests
from benchsite.log.access import AccessLog, noted
from benchsite.log.routes import patterns_of, route_of
from benchsite.server import BenchServer
from keys.services import Caller

LINE = re.compile(r"^\S+ \S+ INFO bench\.access: (?P<what>\S+ \S+ \d+) (?P<ms>[\d.]+) ms (?P<who>.+)$", re.MULTILINE)


def lines_after(server, *requests):
    """What the server's access log says of these requests, made one after the other."""
    before = len(LINE.findall(server.log))
    for request in requests:
        server.request(*request)
    deadline = time.monotonic() + 5
    while len(LINE.findall(server.log)) < before + len(requests) and time.monotonic() < deadline:
        time.sleep(0.01)
    return list(LINE.finditer(server.log))[before:]


def test_a_request_is_one_line(loud_server):
    chat = {"model": "bench/pair", "messages": [{"role": "user", "content": "Hello."}]}
    (line,) = lines_after(loud_server, ("POST", "/v1/chat/completions", chat))
    assert (line["what"], line["who"]) == ("POST /v1/chat/completions 200", "local")
    assert 300 <= float(line["ms"]) < 20_000


def test_a_streams_line_comes_with_its_last_byte(loud_server):
    chat = {"model": "bench/staggered", "stream": True, "messages": [{"role": "user", "content": "Hello."}]}
    (line,) = lines_after(loud_server, ("POST", "/v1/chat/completions", chat))
    assert line["what"] == "POST /v1/chat/completions 200"
    assert float(line["ms"]) >= 700


@pytest.mark.parametrize(
    ("method", "path", "line"),
    [
        ("GET", "/v1/models/bench/pair?key=quokka", "GET /v1/models/<path:model> 200 local"),
        ("GET", "/bench/panels/quokka", "GET /bench/panels/<str:panel> 404 local"),
        ("GET", "/v1beta/models/quokka?key=quokka", "GET /v1beta/models/<path:model> 404 local"),
        ("GET", "/v1/chat/completions", "GET /v1/chat/completions 405 -"),
        ("QUOKKA", "/v1/models", "? /v1/models 405 -"),
        ("GET", "/v1/v1/models", "GET /v1/v1/models 404 -"),
        ("GET", "/v1/quokka/models", "GET /v1/?/models 404 -"),
        ("GET", "//v1/quokka", "GET /v1/? 404 -"),
        ("GET", "/v1/%0aquokka%20200", "GET /v1/? 404 -"),
        ("GET", "/quokka/" * 20, "GET /?/?/?/?/?/? 404 -"),
        ("GET", "/admin/auth/user/1/change/", "GET /admin/auth/user/<path:object_id>/change/ 200 -"),
        ("GET", "/admin/quokka/", "GET /admin/? 404 -"),
        ("GET", "/static/benchsite/icon.svg", "GET /static/ 200 -"),
        ("GET", "/fail/ValueError", "GET /fail/<str:kind> 500 -"),
        ("GET", "/", "GET / 200 -"),
    ],
)
def test_a_route_is_its_pattern_and_never_what_stands_in_it(loud_server, method, path, line):
    (found,) = lines_after(loud_server, (method, path))
    assert f"{found['what']} {found['who']}" == line


def test_whoever_is_refused_at_the_door_has_no_name(loud_server):
    (line,) = lines_after(loud_server, ("GET", "/v1/models", None, {"Host": "quokka.example"}))
    assert (line["what"], line["who"]) == ("GET /v1/models 403", "-")


def test_nothing_else_writes_a_request_down(loud_server):
    """Daphne has an access log of its own, which is not asked for, and Twisted another."""
    before = loud_server.log
    lines_after(loud_server, ("GET", "/healthz"))
    assert len(loud_server.log[len(before) :].splitlines()) == 1


def test_daphne_is_given_no_log_of_its_own():
    server = BenchServer(lambda: None, bind="127.0.0.1", port=1, drain_seconds=0, ready=lambda: None, stopping=lambda _: None)
    assert server._server.action_logger is None


def test_twisted_keeps_no_log_of_its_own():
    factory = HTTPFactory(server=None)
    use_bench_requests(factory, WeakSet())
    factory._logFile = io.StringIO()
    factory.log(SimpleNamespace())
    assert factory._logFile.getvalue() == ""


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, "bench.access")
    return lambda: [re.sub(r"[\d.]+ ms", "ms", record.getMessage()) for record in caplog.records]


async def nothing_to_receive():
    return {"type": "http.disconnect"}


async def nowhere(event):
    pass


def scope(path="/v1/models", **more):
    return {"type": "http", "method": "GET", "path": path, "query_string": b"key=quokka", "headers": []} | more


def ask(app, **more):
    return asyncio.run(AccessLog(app)(scope(**more), nothing_to_receive, nowhere))


def test_an_admitted_callers_key_is_named(said):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 429, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    asked = SimpleNamespace(caller=Caller("my app"), route=SimpleNamespace(path="v1/chat/completions"))
    ask(noted(app), bench=asked)
    assert said() == ["GET /v1/chat/completions 429 ms my app"]


def test_an_app_that_breaks_is_a_500(said):
    async def app(scope, receive, send):
        raise ValueError

    with pytest.raises(ValueError):
        ask(app)
    assert said() == ["GET /v1/models 500 ms -"]


def test_a_caller_who_left_before_an_answer_is_a_499(said):
    async def cancelled(scope, receive, send):
        raise asyncio.CancelledError

    async def silent(scope, receive, send):
        await receive()

    with pytest.raises(asyncio.CancelledError):
        ask(cancelled)
    ask(silent)
    assert said() == ["GET /v1/models 499 ms -"] * 2


def test_a_line_is_written_when_the_last_byte_has_gone_and_not_again(said):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        assert said() == []
        await send({"type": "http.response.body", "body": b"b"})
        assert len(said()) == 1

    ask(app)
    assert len(said()) == 1


def test_every_pattern_of_the_site_is_its_own_route():
    """A route that the log would write as `?` is one that nobody can find in it."""
    for pattern in patterns_of(get_resolver("gateway.urls")):
        assert "(" not in pattern, pattern
    for path in ("/admin/", "/admin/login/", "/healthz", "/readyz"):
        assert route_of(path) == path
