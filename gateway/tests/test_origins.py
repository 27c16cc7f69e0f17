"""From where a request may come: this machine's own names, and no foreign page."""

import json
import socket

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import running_server

CHAT = "/v1/chat/completions"
BODY = {"model": "bench/pair", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machines_own_names_are_answered(server, name):
    assert server.request("GET", "/v1/models", headers={"Host": f"{name}:{server.port}"}).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "", "0.0.0.0:{port}"]
)
@pytest.mark.parametrize("path", ["/v1/models", "/admin/", "/healthz", "/"])
def test_a_foreign_host_is_refused_before_anything_else(server, host, path):
    reply = server.request("GET", path, headers={"Host": host.format(port=server.port)})
    assert reply.status == 403
    assert "BENCH_ALLOWED_HOSTS" in reply.json["error"]["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    ],
)
def test_a_foreign_page_is_refused_on_gateway_routes(server, headers):
    for method, path, body in (("POST", CHAT, BODY), ("GET", "/v1/models", None), ("OPTIONS", CHAT, None)):
        reply = server.request(method, path, body, headers)
        assert reply.status == 403, (method, path)
        assert "access-control-allow-origin" not in reply.headers


@pytest.mark.parametrize("name", ["X-Forwarded-For", "x-real-ip", "Forwarded", "Via", "CF-Ray", "X-Forwarded-Proto"])
def test_a_tunnel_brings_nobody_to_a_bench_that_asks_for_no_key(server, name):
    for method, path, body in (("POST", CHAT, BODY), ("GET", "/v1/models", None), ("GET", "/api/tags", None)):
        reply = server.request(method, path, body, {name: "203.0.113.7"})
        assert reply.status == 403
        assert "BENCHWARMERS_ADMIN_TOKEN" in json.dumps(reply.json["error"])


@pytest.mark.parametrize(("trusted", "status"), [("127.0.0.1", 200), ("127.0.0.2", 403)])
def test_a_trusted_proxy_may_bring_whom_it_likes_and_no_other_anybody(upstream, tmp_path, trusted, status):
    bench = bench_file(upstream.url, {"fast": {"model": "say-done"}}, {"core": ["fast"]})
    with running_server(tmp_path, bench, BENCH_TRUSTED_PROXIES=trusted) as server:
        assert server.request("GET", "/v1/models", headers={"X-Forwarded-For": "127.0.0.1"}).status == status


def test_a_foreign_page_is_refused_in_the_dashboard_but_a_link_may_be_followed(server):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert server.request("GET", "/admin/", headers=link).status in (200, 302)
    assert server.request("POST", "/admin/", headers=link).status == 403
    assert server.request("GET", "/admin/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status == 403


def test_its_own_pages_and_scripts_without_a_page_are_answered(server):
    own = {"Origin": f"http://127.0.0.1:{server.port}", "Sec-Fetch-Site": "same-origin"}
    assert server.request("POST", CHAT, BODY, own).status == 200
    assert server.request("POST", CHAT, BODY, {"Sec-Fetch-Mode": "cors", "Accept-Language": "*"}).status == 200


@pytest.mark.parametrize("path", ["/v1/models", "/v1/nothing", "/api/version"])
def test_no_page_may_frame_a_reply_or_guess_at_its_type(server, path):
    headers = server.request("GET", path).headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"


APP = "https://app.example"
PREFLIGHT = {
    "Origin": APP,
    "Sec-Fetch-Site": "cross-site",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,x-stainless-os,anthropic-version,bad name,x\u00e9",
    "Access-Control-Request-Private-Network": "true",
}


@pytest.fixture(scope="module")
def open_to_an_app(upstream, tmp_path_factory):
    bench = bench_file(upstream.url, {"fast": {"model": "say-hi"}}, {"pair": ["fast"]})
    origins = f"{APP},http://localhost:3000"
    with running_server(tmp_path_factory.mktemp("app"), bench, BENCH_ALLOWED_ORIGINS=origins) as server:
        yield server


def from_app(server, method, path, body=None, origin=APP):
    return server.request(method, path, body, {"Origin": origin, "Sec-Fetch-Site": "cross-site"})


def test_an_allowed_page_may_ask_and_read_every_reply(open_to_an_app):
    replies = [
        from_app(open_to_an_app, "POST", CHAT, BODY),
        from_app(open_to_an_app, "POST", CHAT, BODY | {"stream": True}),
        from_app(open_to_an_app, "GET", "/v1/models"),
        from_app(open_to_an_app, "POST", CHAT, BODY | {"model": "bench/none"}),
        from_app(open_to_an_app, "GET", "/v1/nothing"),
        from_app(open_to_an_app, "PUT", CHAT, {}),
    ]
    assert [reply.status for reply in replies] == [200, 200, 200, 404, 404, 405]
    for reply in replies:
        assert reply.headers["access-control-allow-origin"] == APP
        assert reply.headers["vary"] == "Origin"
        assert "X-Bench-Panel" in reply.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in reply.headers


def test_a_preflight_allows_plain_header_names(open_to_an_app):
    for path in (CHAT, "/v1/models", "/bench/verdict", "/api/chat"):
        reply = open_to_an_app.request("OPTIONS", path, headers=PREFLIGHT)
        assert (reply.status, reply.body) == (204, b"")
        names = reply.headers["access-control-allow-headers"].split(", ")
        assert names == ["authorization", "content-type", "x-stainless-os", "anthropic-version"]
        assert "POST" in reply.headers["access-control-allow-methods"]
        assert reply.headers["access-control-allow-private-network"] == "true"
        assert reply.headers["access-control-allow-origin"] == APP


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://app.example.evil.example", "http://app.example", "null", "*"]
)
def test_no_other_page_is_answered(open_to_an_app, origin):
    for method, path in (("POST", CHAT), ("GET", "/v1/models"), ("OPTIONS", CHAT)):
        reply = open_to_an_app.request(method, path, None if method != "POST" else BODY, PREFLIGHT | {"Origin": origin})
        assert reply.status == 403
        assert "access-control-allow-origin" not in reply.headers


def test_the_dashboard_answers_no_page_of_another_site(open_to_an_app):
    for method in ("GET", "POST", "OPTIONS"):
        reply = open_to_an_app.request(method, "/admin/", headers=PREFLIGHT)
        assert reply.status == 403
        assert not [name for name in reply.headers if name.startswith("access-control")]


def test_two_hosts_are_none_that_is_answered_to(server):
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        own = f"Host: 127.0.0.1:{server.port}\r\n"
        connection.sendall(f"GET /v1/models HTTP/1.1\r\n{own}Host: evil.example\r\nConnection: close\r\n\r\n".encode())
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    assert reply.split(b" ")[1] in (b"400", b"403")
