"""From where a request may come: this machine's own names, and no foreign page."""

import pytest

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


def test_a_foreign_page_is_refused_in_the_dashboard_but_a_link_may_be_followed(server):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert server.request("GET", "/admin/", headers=link).status in (200, 302)
    assert server.request("POST", "/admin/", headers=link).status == 403
    assert server.request("GET", "/admin/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status == 403


def test_its_own_pages_and_scripts_without_a_page_are_answered(server):
    own = {"Origin": f"http://127.0.0.1:{server.port}", "Sec-Fetch-Site": "same-origin"}
    assert server.request("POST", CHAT, BODY, own).status == 200
    assert server.request("POST", CHAT, BODY, {"Sec-Fetch-Mode": "cors", "Accept-Language": "*"}).status == 200
