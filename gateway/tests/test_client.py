"""The client of a running bench: what it asks, what it hears meanwhile, and how it is told no."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest

from gateway.client import (
    Bench,
    CutOffError,
    InProcess,
    Piece,
    Question,
    RefusedError,
    Seated,
    SeatEnded,
    UnreachableError,
)
from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import free_port, running_server
from gateway.tests.test_keys import make_key

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def using(server: Any, work: Callable[[Bench], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        async with Bench(server if isinstance(server, str) else server.base_url, **options) as bench:
            return await work(bench)

    return asyncio.run(run())


def asked(server: Any, question: Question, **options: Any) -> tuple[Any, list[Any]]:
    """The answer, and everything that was told meanwhile."""
    heard: list[Any] = []

    async def told(what: Any) -> None:
        heard.append(what)

    return using(server, lambda bench: bench.ask(question, told), **options), heard


def test_a_panel_is_told_of_as_it_goes_and_answered_whole(server):
    answer, heard = asked(server, Question("staggered", "Is there a race?", system="Be brief."))
    assert heard[0] == Seated(answer.panel)
    assert "".join(one.text for one in heard if isinstance(one, Piece)) == answer.content
    ends = [(one.seat and one.seat["alias"], one.ended, one.seats) for one in heard if isinstance(one, SeatEnded)]
    assert ends == [(None, 0, 3), ("fast", 1, 3), ("steady", 2, 3), ("slow", 3, 3)]
    assert using(server, lambda bench: bench.panel(answer.panel)) == {"status": "done", **answer.bench}
    assert answer.bench["seats"][0]["answer"].strip() == "No stale read."
    logged = server.rows("select request from evidence_panel where panel_id = ?", answer.panel)
    assert logged == [("system: Be brief.\n\nuser: Is there a race?",)]


def test_of_a_merged_panel_the_id_is_known_before_it_has_any_text_and_its_seats_are_told_of(server):
    answer, heard = asked(server, Question("bench/pair", "x", reply="merged", merger="fast"))
    assert heard[0] == Seated(answer.panel)
    ends = [(one.seat and one.seat["seat"], one.ended, one.seats) for one in heard if isinstance(one, SeatEnded)]
    assert ends == [(None, 0, 2), ("member", 1, 2), ("member", 2, 2), ("merger", 2, 2)]
    assert answer.bench["merger"]["alias"] == "fast"
    assert answer.content.startswith("No stale read.")


def test_nominations_and_images_go_along(server):
    answer, _ = asked(server, Question("seeing", "What is it?", nominated=("eyes",), images=(PIXEL,)))
    assert [seat["alias"] for seat in answer.bench["seats"]] == ["eyes"]
    assert [seat["alias"] for seat in answer.bench["skipped"]] == ["fast"]


def test_collections_panels_verdicts_and_what_is_owed(server):
    async def work(bench: Bench) -> None:
        assert "bench/pair" in [row["name"] for row in await bench.collections()]
        panel = (await bench.ask(Question("pair", "Who is right?"))).panel
        assert (await bench.panel(panel))["status"] == "done"
        owed = await bench.owed(limit=1, panel=panel)
        assert (len(owed["owed"]), owed["more"]) == (1, True)
        call = owed["owed"][0]["call"]
        written = await bench.verdict(call, useful=False, note="no", real=None, false=["it leaks"])
        assert written == {"ok": True, "written": True, "call": call}
        assert not (await bench.verdict(call, useful=False, note="no", false=["it leaks"]))["written"]
        assert call not in [row["call"] for row in (await bench.owed(panel=panel))["owed"]]

    using(server, work)


@pytest.mark.parametrize(
    ("question", "status", "words"),
    [
        (Question("nothing", "x"), 404, "bench/pair: For pair [test]"),
        (Question("pair", "x", nominated=("nobody",)), 400, "no model on this bench"),
        (Question("leaving", "x"), 503, "nobody"),
    ],
)
def test_a_refusal_comes_in_the_benchs_own_words(server, question, status, words):
    with pytest.raises(RefusedError) as refused:
        asked(server, question)
    assert refused.value.status == status
    assert words.lower() in str(refused.value).lower()


def test_where_no_seat_answers_the_refusal_has_the_seats(server):
    with pytest.raises(RefusedError) as refused:
        asked(server, Question("failing", "x"))
    assert refused.value.status == 502
    assert refused.value.bench["seats"][0]["error_kind"]
    for work, status in (
        (lambda bench: bench.panel("p20260101-000000-0000"), 404),
        (lambda bench: bench.panel("../../x?y"), 404),
        (lambda bench: bench.panel("\udc80"), 404),
        (lambda bench: bench.owed(panel="\udc80"), 400),
        (lambda bench: bench.ask(Question("pair", "a\udc80")), 400),
        (lambda bench: bench.verdict("nothing", useful=True), 404),
        (lambda bench: bench.owed(limit=1000), 400),
    ):
        with pytest.raises(RefusedError) as refused:
            using(server, work)
        assert refused.value.status == status


def test_a_key_is_sent_and_a_limit_says_how_long_to_wait(tmp_path, upstream):
    bench = bench_file(upstream.url, {"a": {"model": "say-a"}}, {"mine": ["a"]}) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path, bench, BENCHWARMERS_REQUIRE_KEYS="1") as server:
        key, strict = make_key(server, "app", "--rpm", "1"), make_key(server, "strict", "--no-bench-field")
        with pytest.raises(RefusedError, match="none was sent"):
            asked(server, Question("mine", "x"))
        assert asked(server, Question("mine", "x"), key=key)[0].bench["answered"] == 1
        with pytest.raises(RefusedError) as refused:
            asked(server, Question("mine", "x"), key=key)
        assert (refused.value.status, 0 < refused.value.wait <= 60) == (429, True)
        # A key may leave the field out of replies; whoever asked can read it all the same.
        assert asked(server, Question("mine", "x"), key=strict)[0].bench["answered"] == 1


def test_nobody_there_and_something_else_there_are_told_apart():
    with pytest.raises(UnreachableError, match="does not answer"):
        using(f"http://127.0.0.1:{free_port()}", lambda bench: bench.collections())
    for status, body in ((404, b"<html>"), (200, b"<html>"), (200, b"[]"), (401, b'{"error": "no"}')):
        with OtherServer(status, body) as url, pytest.raises(UnreachableError):
            using(url, lambda bench: bench.collections())
    with OtherServer(200, b"data: {}\n\n") as url, pytest.raises(UnreachableError, match="something else"):
        asked(url, Question("x", "x"))


@pytest.mark.parametrize("panel", ["events", "x/events", "..", "", "/"])
def test_no_panel_id_leads_to_another_route(server, panel):
    known = asked(server, Question("echoing", "x"))[0].panel
    for wrong in (f"{known}/{panel}", panel):
        with pytest.raises(RefusedError, match="There is no panel"):
            using(server, lambda bench, wrong=wrong: bench.panel(wrong))


@pytest.mark.parametrize(
    "url", ["no-url", "http://[::1", "ftp://127.0.0.1", "", "http:", "http://127.0.0.1:99999", "http://a?b=c", "http://a#b"]
)
def test_what_is_no_address_is_told_from_a_bench_that_is_away(url):
    with pytest.raises(UnreachableError, match="is no bench's address"):
        using(url, lambda bench: bench.collections())


@pytest.mark.parametrize("url", ["http://user:s3cret@127.0.0.1:1", "http://user:s3cret@[::1", "ftp://s3cret@x"])
def test_no_password_of_an_address_is_repeated(url):
    with pytest.raises(UnreachableError, match="user or password") as refused:
        using(url, lambda bench: bench.collections())
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("key", ["s3cret\nX-Bench-Depth: 1", "s3cret€", "s3cret\udcff", "s3cret\0"])
def test_a_key_that_is_none_is_refused_and_never_repeated(key):
    with pytest.raises(RefusedError, match="key that was set") as refused:
        using(f"http://127.0.0.1:{free_port()}", lambda bench: bench.collections(), key=key)
    assert refused.value.status == 401 and "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "bogus://u:s3cret@x"), ("ALL_PROXY", "http://u:s3cret@x:y"), ("SSL_CERT_FILE", "/no/file")],
)
def test_what_the_environment_says_wrong_of_the_way_is_no_crash(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(UnreachableError, match=name) as refused:
        using("https://bench.example", lambda bench: bench.collections())
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>"),
        (200, b"data: \xff\xfe\n\n"),
        (200, b"data: " + b"[" * 100_000 + b"\n\n"),
        (200, b'data: {"choices": [], "bench": [1]}\n\n'),
        (200, b'data: {"choices": [], "bench": {"seats": []}}\n\n'),
        (200, b'data: {"choices": [], "bench": {"panel": 5}}\n\n'),
        (400, b'{"error": {"message": "no"}, "bench": 5}'),
        (400, b"[" * 100_000),
    ],
)
def test_whatever_else_may_come_is_told_as_no_benchs(status, body):
    with OtherServer(status, body) as url, pytest.raises(UnreachableError):
        asked(url, Question("x", "x"))


def test_a_reply_packed_wrong_or_with_a_wait_without_end_is_no_crash():
    with OtherServer(400, b"packed", **{"Content-Encoding": "gzip"}) as url, pytest.raises(UnreachableError):
        asked(url, Question("x", "x"))
    with OtherServer(200, b"packed", **{"Content-Encoding": "gzip"}) as url, pytest.raises(CutOffError):
        asked(url, Question("x", "x"))
    endless = OtherServer(429, b'{"error": {"message": "no"}}', **{"Retry-After": "9" * 400})
    with endless as url, pytest.raises(RefusedError) as refused:
        asked(url, Question("x", "x"))
    assert refused.value.wait is None


def test_a_stream_that_breaks_off_is_no_answer():
    begun = b": panel p20260101-000000-0000\n\n" + b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
    with OtherServer(200, begun) as url, pytest.raises(CutOffError) as cut:
        asked(url, Question("x", "x"))
    assert cut.value.panel == "p20260101-000000-0000"


@pytest.mark.parametrize("events", [b"event: seat\ndata: {}\n\n", b"event: seat\ndata: nonsense\n\n", None])
def test_a_panel_that_can_be_followed_no_longer_is_told_as_cut_off(events):
    class Broken(httpx2.AsyncByteStream):
        async def __aiter__(self):
            yield events or b": keep-alive\n\n"
            raise httpx2.ReadError("the server went away")

    async def served(request):
        if request.url.path.endswith("/events"):
            return httpx2.Response(200, stream=Broken())
        return httpx2.Response(200, json={"panel": "p1", "seats": [{"call": "p1.member1"}]})

    heard: list[Any] = []

    async def told(what: Any) -> None:
        heard.append(what)

    with pytest.raises(CutOffError) as cut:
        using("http://bench", lambda bench: bench.follow("p1", told), transport=httpx2.MockTransport(served))
    assert cut.value.panel == "p1" and heard == [SeatEnded(None, 0, 1)]


class OtherServer:
    """Whatever else may listen where a bench was expected: always the same reply."""

    def __init__(self, status: int, body: bytes, **headers: str) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 (by these names it is called)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()


def test_an_app_of_this_process_is_asked_piece_by_piece():
    """The app goes on only when its first piece has been read: a transport that waited for the end never would."""

    async def run() -> None:
        read = asyncio.Event()
        scopes: list[Any] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            scopes.append((scope, (await receive())["body"]))
            await send({"type": "http.response.start", "status": 201, "headers": [(b"X-Of", b"app")]})
            await send({"type": "http.response.body", "body": b"one", "more_body": True})
            await asyncio.wait_for(read.wait(), 30)
            await send({"type": "http.response.body", "body": b"two"})

        url, pieces = "http://bench.example:1/a%20b?c=d", []
        http = httpx2.AsyncClient(transport=InProcess(app))
        async with http, http.stream("POST", url, content=b"body") as response:
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                read.set()
        assert (response.status_code, response.headers["x-of"], pieces) == (201, "app", [b"one", b"two"])
        scope, body = scopes[0]
        assert body == b"body"
        assert (scope["method"], scope["path"], scope["query_string"]) == ("POST", "/a b", b"c=d")
        assert (b"host", b"bench.example:1") in scope["headers"]

    asyncio.run(run())


def test_an_app_of_this_process_hears_of_a_hang_up():
    async def run() -> list[str]:
        heard: list[str] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await receive()
            await send({"type": "http.response.start", "status": 200})
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
            heard.append((await receive())["type"])

        async with httpx2.AsyncClient(transport=InProcess(app)) as http, http.stream("GET", "http://b/") as response:
            await anext(response.aiter_bytes())
        return heard

    assert asyncio.run(run()) == ["http.disconnect"]


@pytest.mark.parametrize("begins", [False, True])
def test_an_app_of_this_process_that_fails_is_told_of_as_a_broken_connection(begins):
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if begins:
            await send({"type": "http.response.start", "status": 200})
        raise RuntimeError("broken")

    error = UnreachableError if not begins else CutOffError
    with pytest.raises(error):
        using("http://b", lambda bench: bench.ask(Question("x", "x")), transport=InProcess(app))
