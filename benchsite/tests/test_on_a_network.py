"""A server on a network, behind a proxy that ends TLS: keys for the gateway, the token for the dashboard, each for its own."""

import http.cookies
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import Answer, RunningServer, running_server

TOKEN = "a-token-of-24-characters"
PUBLIC = "https://bench.example"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {
        "BENCHWARMERS_ADMIN_TOKEN": TOKEN,
        "BENCHWARMERS_PUBLIC_URL": PUBLIC,
        "BENCH_TRUSTED_PROXIES": "127.0.0.1",
    }
    with FakeUpstream() as fake:
        bench = bench_file(fake.url, {"fast": {"model": "say-Hello."}}, {"one": ["fast"]})
        with running_server(tmp_path_factory.mktemp("network"), bench, **environment) as running:
            yield running


@pytest.fixture(scope="module")
def key(server: RunningServer) -> str:
    done = server.manage("create_key", "tester")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def proxied(address: str = "203.0.113.7", **more: str) -> dict[str, str]:
    """What a proxy adds for a client at `address`."""
    told = {"Host": "inner", "X-Forwarded-For": address, "X-Forwarded-Proto": "https", "X-Forwarded-Host": "bench.example"}
    return told | {name.replace("_", "-"): value for name, value in more.items()}


def cookies_of(answer: Answer) -> http.cookies.SimpleCookie:
    # http.client joins several Set-Cookie lines with commas; dates have one too.
    return http.cookies.SimpleCookie(re.sub(r", (?=bench_)", "; ", answer.headers.get("set-cookie", "")))


def log_in(server: RunningServer, token: str, by: dict[str, str], **more: str) -> Answer:
    """Send the login form as a page of the public URL would. `by`: what came with the request on its way."""
    (csrf,) = cookies_of(server.request("GET", "/admin/login/", headers=by)).values()
    sent = FORM | {"Cookie": f"{csrf.key}={csrf.value}", "Origin": PUBLIC, "Referer": f"{PUBLIC}/admin/login/"}
    body = f"token={token}&csrfmiddlewaretoken={csrf.value}".encode()
    return server.request("POST", "/admin/login/", headers=by | sent | more, raw=body)


def test_the_token_opens_the_dashboard_through_the_proxy(server: RunningServer) -> None:
    answer = log_in(server, TOKEN, proxied())
    assert (answer.status, answer.headers["location"]) == (302, "/admin/")
    assert "Secure" in answer.headers["set-cookie"]
    session = cookies_of(answer)["bench_session_bench.example"].value
    cookie = {"Cookie": f"bench_session_bench.example={session}"}
    assert server.request("GET", "/admin/", headers=proxied() | cookie).status == 200
    assert server.request("GET", "/admin/", headers=proxied()).status == 302


def test_the_dashboards_cookie_never_opens_the_gateway(server: RunningServer, key: str) -> None:
    cookies = cookies_of(log_in(server, TOKEN, proxied("203.0.113.8")))
    cookie = {
        "Cookie": "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items()) + f"; key={key}; authorization={key}"
    }
    assert server.request("GET", "/admin/", headers=proxied() | cookie).status == 200
    for method, path in (
        ("GET", "/v1/models"),
        ("POST", "/v1/chat/completions"),
        ("GET", "/api/tags"),
        ("POST", "/bench/verdict"),
    ):
        assert server.request(method, path, {} if method == "POST" else None, proxied() | cookie).status == 401, path


def test_a_key_never_opens_the_dashboard(server: RunningServer, key: str) -> None:
    for sent in ({"Authorization": f"Bearer {key}"}, {"x-api-key": key}, {"x-goog-api-key": key}):
        assert server.request("GET", "/v1/models", headers=proxied() | sent).status == 200
    for path in ("/admin/", f"/admin/?key={key}", "/admin/keys/gatewaykey/"):
        for sent in ({"Authorization": f"Bearer {key}"}, {"x-api-key": key}, {"x-goog-api-key": key}, {"Cookie": f"key={key}"}):
            assert server.request("GET", path, headers=proxied() | sent).status == 302
    assert log_in(server, key, proxied("203.0.113.9")).status == 200


def test_the_token_is_no_key_and_no_password_of_the_dashboards_pages(server: RunningServer) -> None:
    for sent in ({"Authorization": f"Bearer {TOKEN}"}, {"x-api-key": TOKEN}):
        assert server.request("GET", "/v1/models", headers=proxied() | sent).status == 401
        assert server.request("GET", "/admin/", headers=proxied() | sent).status == 302


def test_tries_are_counted_by_the_address_that_the_proxy_tells(server: RunningServer) -> None:
    answers = [log_in(server, "wrong", proxied("203.0.113.20")) for _ in range(6)]
    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert 1 <= int(answers[5].headers["retry-after"]) <= 60
    assert log_in(server, "wrong", proxied("203.0.113.20, 203.0.113.21")).status == 200
    # What a caller wrote in front of the proxy's own word is no other caller.
    assert log_in(server, "wrong", proxied("198.51.100.1, 203.0.113.20")).status == 429


def test_a_form_of_another_site_is_refused(server: RunningServer) -> None:
    for origin in ("https://evil.example", "null", "http://bench.example.evil.example"):
        assert log_in(server, TOKEN, proxied("203.0.113.30"), Origin=origin).status == 403


@pytest.mark.parametrize("headers", [proxied(), {"Host": "bench.example"}, {"Host": "BENCH.example:443", "Origin": PUBLIC}])
def test_links_begin_with_the_public_url(server: RunningServer, key: str, headers: dict[str, str]) -> None:
    body = {"model": "bench/one", "messages": [{"role": "user", "content": "Say anything."}]}
    answer = server.request("POST", "/v1/chat/completions", body, headers | {"Authorization": f"Bearer {key}"})
    assert answer.status == 200
    assert f"POST {PUBLIC}/bench/verdict" in answer.json["choices"][0]["message"]["content"]


def test_a_page_of_the_public_url_is_its_own_where_the_proxy_asks_under_another_host(server: RunningServer, key: str) -> None:
    asked = {"Host": f"127.0.0.1:{server.port}", "Authorization": f"Bearer {key}"}
    assert server.request("GET", "/v1/models", headers=asked | {"Origin": PUBLIC}).status == 200
    for origin in ("http://bench.example", "https://bench.example.evil.example", "https://bench.example:8443", ""):
        assert server.request("GET", "/v1/models", headers=asked | {"Origin": origin}).status == 403, origin


def test_a_host_that_is_none_of_ours_is_refused_from_a_trusted_proxy_too(server: RunningServer) -> None:
    assert server.request("GET", "/healthz", headers=proxied(X_Forwarded_Host="evil.example")).status == 403


def test_from_elsewhere_forwarded_headers_are_not_believed(tmp_path: Path) -> None:
    environment = {
        "BENCHWARMERS_ADMIN_TOKEN": TOKEN,
        "BENCHWARMERS_PUBLIC_URL": PUBLIC,
        "BENCH_TRUSTED_PROXIES": "10.0.0.0/8",
    }
    with running_server(tmp_path, "", **environment) as server:
        assert server.request("GET", "/healthz", headers=proxied()).status == 403
        host = {"Host": "bench.example"}
        answers = [log_in(server, "wrong", proxied(f"203.0.113.{number}") | host) for number in range(6)]
        assert [answer.status for answer in answers] == [200] * 5 + [429]
