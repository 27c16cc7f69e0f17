"""Whatever is sent: the right status in the route's own words, never a page, never a traceback, and nothing written."""

import gzip
import json
import socket

import pytest

CHAT = "/v1/chat/completions"
HI = [{"role": "user", "content": "hi"}]


def refused(reply, status: int) -> str:
    assert reply.status == status, reply.body[:300]
    assert reply.headers["content-type"] == "application/json"
    error = reply.json["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert "Traceback" not in error["message"]
    return error["message"]


@pytest.fixture
def nothing_written(server):
    before = server.rows("select count(*) from evidence_panel")
    yield
    assert server.rows("select count(*) from evidence_panel") == before


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"model": "bench/pair"',
        b'{"model": "\xff\xfe"}',
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"model": NaN}',
        b'{"model": Infinity}',
        b'{"model": "\\ud800"}',
        b"{'model': 1}",
        b"model=bench/pair",
        b"{} {}",
    ],
    ids=lambda raw: repr(raw[:16]),
)
def test_what_is_no_json_is_a_400(server, nothing_written, raw):
    assert "not valid JSON" in refused(server.request("POST", CHAT, raw=raw), 400)


@pytest.mark.parametrize("payload", ["null", "[]", "5", '"x"', "true"])
def test_json_that_is_no_object_is_a_400(server, nothing_written, payload):
    assert "must be an object" in refused(server.request("POST", CHAT, raw=payload.encode()), 400)


WRONG = [None, 5, 0.5, True, "x", [], {}, [None], [{}], {"a": 1}]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("field", ["model", "messages", "stream", "stream_options", "tools", "functions", "bench", "with"])
def test_no_wrong_type_in_any_field_is_more_than_a_refusal(server, field, stream):
    for value in WRONG:
        body = {"model": "bench/none", "messages": HI, "stream": stream} | {field: value}
        reply = server.request("POST", CHAT, body)
        assert reply.status in (400, 404), (field, value, reply.body[:200])
        refused(reply, reply.status)


@pytest.mark.parametrize("value", WRONG)
def test_no_wrong_type_in_a_message_is_more_than_a_refusal(server, value):
    for message in ({"role": value, "content": "x"}, {"role": "user", "content": [value]}, {"role": "user", "content": value}):
        reply = server.request("POST", CHAT, {"model": "bench/none", "messages": [message]})
        assert reply.status in (400, 404)
        refused(reply, reply.status)


def test_a_refusal_looks_the_same_streamed_and_not(server):
    for body in ({"messages": HI}, {"model": "bench/none", "messages": HI}, {"model": "bench/pair", "messages": []}):
        plain, streamed = (server.request("POST", CHAT, body | {"stream": stream}) for stream in (False, True))
        assert (plain.status, plain.json) == (streamed.status, streamed.json)


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("content_type", ["text/plain", FORM, "multipart/form-data; boundary=x", ""])
def test_only_json_is_taken(server, nothing_written, content_type):
    body = json.dumps({"model": "bench/pair", "messages": HI}).encode()
    refused(server.request("POST", CHAT, raw=body, headers={"Content-Type": content_type}), 415)


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip", "zstd"])
def test_a_packed_body_is_refused_as_what_it_is(server, encoding):
    reply = server.request("POST", CHAT, raw=gzip.compress(b"{}"), headers={"Content-Encoding": encoding})
    assert "Content-Encoding" in refused(reply, 415)


def test_a_charset_beside_the_content_type_is_fine(server):
    body = json.dumps({"model": "bench/pair", "messages": HI}).encode()
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert server.request("POST", CHAT, raw=body, headers=headers).status == 200


def test_a_body_over_the_cap_is_a_413_that_says_what_to_send(server, nothing_written):
    body = {"model": "bench/pair", "messages": [{"role": "user", "content": "x" * 21_000_000}]}
    message = refused(server.request("POST", CHAT, body), 413)
    assert "20,000,000 bytes is the most" in message
    assert "smaller" in message


def test_a_body_under_the_cap_is_read(server):
    reply = server.chat("bench/tight", "x" * 19_000_000)
    assert "small takes 300" in refused(reply, 413)


def test_a_large_body_is_read_like_a_small_one(server):
    """Beyond some size it is parsed elsewhere."""
    reply = server.chat("bench/echoing", "x" * 300_000 + " and the end")
    assert reply.json["bench"]["seats"][0]["answer"] == "x" * 300_000 + " and the end"


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/", "/v1", "/v1/chat/completions/", "/v1/chat", "/bench/nothing"])
def test_an_unknown_path_is_a_404_in_json(server, path):
    for method in ("GET", "POST"):
        refused(server.request(method, path, raw=b"{}"), 404)


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", CHAT, "POST"),
        ("PUT", CHAT, "POST"),
        ("DELETE", CHAT, "POST"),
        ("POST", "/v1/models", "GET, HEAD"),
        ("PATCH", "/v1/models/bench/pair", "GET, HEAD"),
        ("GET", "/bench/verdict", "POST"),
        ("POST", "/bench/panels/p1", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_a_405_with_allow(server, method, path, allow):
    reply = server.request(method, path, raw=b"{}")
    refused(reply, 405)
    assert reply.headers["allow"] == allow


def test_what_the_protocol_itself_refuses_is_json_too(server):
    for line in (b"GET /v1/mod\xe9ls HTTP/1.1\r\nHost: x\r\n", b"GET /v1/models HTTP/1.1\r\nHost: x\r\nBad Name: 1\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
            connection.sendall(line + b"Connection: close\r\n\r\n")
            reply = b"".join(iter(lambda: connection.recv(65536), b""))
        head, _, body = reply.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400")
        assert not body or json.loads(body)["error"]["message"]
        assert b"<html" not in body.lower()


def test_every_status_is_told_in_words_too(server):
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        head = f"POST {CHAT} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}X-Bench-Depth: 1\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 508 Loop Detected\r\n")


@pytest.mark.parametrize("accept", ["text/event-stream", "text/html", "application/xml", "*/*", "nonsense", "image/*;q=0"])
def test_accept_chooses_nothing(server, accept):
    verdict = {"call": "p20260101-000000-0000.member1", "useful": True}
    for method, path, body, status in (
        ("POST", CHAT, {"model": "bench/pair", "messages": HI}, 200),
        ("GET", "/v1/models", None, 200),
        ("POST", "/bench/verdict", verdict, 404),
    ):
        reply = server.request(method, path, body, {"Accept": accept})
        assert (reply.status, reply.headers["content-type"]) == (status, "application/json")


def test_head_answers_without_a_body(server):
    reply = server.request("HEAD", "/v1/models")
    assert (reply.status, reply.body) == (200, b"")


def test_an_unknown_path_is_quoted_back_in_short(server):
    message = refused(server.request("GET", "/v1/" + "x" * 3000), 404)
    assert "/v1/xxx" in message
    assert len(message) < 300


def test_hostile_names_are_quoted_back_short_and_safe(server):
    message = refused(server.chat("<script>alert(1)</script>" * 1000), 404)
    assert len(message) < 2000
    refused(server.request("GET", "/v1/models/" + "x" * 3000), 404)
    refused(server.request("GET", "/v1/models/%00%ff%2e%2e"), 404)


def test_the_server_is_fine_after_all_of_it(server):
    assert server.chat("bench/pair").status == 200
    assert "Traceback" not in server.log
