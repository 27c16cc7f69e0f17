"""Somebody else's page in the caller's own browser: whatever it sends, it reads nothing and nothing is written."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Response, expect
from sites import EVIL, HERE, PLAIN, Site

from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer

TABLES = (
    "evidence_panel",
    "evidence_call",
    "evidence_verdict",
    "keys_gatewaykey",
    "collections_app_collection",
    "auth_user",
    "auditlog_logentry",
    "django_session",
)
# Another site; another port of the same one, which the browser calls the same site and sends cookies from.
FROM = ("localhost", "127.0.0.1", EVIL)
# By its name the bench is no secure context: the browser does not say there where a request comes from but by its Origin.
TO = ("127.0.0.1", PLAIN)


def rows_of(server: RunningServer) -> dict[str, int]:
    return {table: server.rows(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}


@pytest.fixture(scope="module")
def panel(as_installed: RunningServer) -> str:
    """A panel that there is to be read. What the dashboard writes at its first page is written."""
    assert as_installed.request("GET", "/admin/").status == 200
    return str(as_installed.chat("bench/one").json["bench"]["panel"])


def attack(page: Page, panel: str, base: str) -> dict[str, Any]:
    page.evaluate("(panel) => { window.panel = panel }", panel)
    return dict(page.evaluate("(base) => attack(base)", base))


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("host", FROM)
def test_it_reads_nothing_and_writes_nothing(
    page: Page, site: Site, as_installed: RunningServer, upstream: FakeUpstream, panel: str, host: str, to: str
) -> None:
    before, asked, logged = rows_of(as_installed), len(upstream.requests), len(as_installed.log)
    page.goto(f"{site.origin(host)}/foreign.html")
    outcomes = attack(page, panel, f"http://{to}:{as_installed.port}")
    assert len(outcomes) > 30
    assert {name: found for name, found in outcomes.items() if found} == {}
    assert rows_of(as_installed) == before
    assert len(upstream.requests) == asked
    # They were stopped here, not by the browser before they were sent.
    assert as_installed.log[logged:].count(" 403 ") > 20


def test_the_same_requests_of_a_page_of_its_own_do_both(page: Page, as_installed: RunningServer, panel: str) -> None:
    """What shows that the attacks above are attacks."""
    before = rows_of(as_installed)
    page.route("**/foreign.html", lambda route: route.fulfill(body="<title>x</title><body>", content_type="text/html"))
    page.goto(f"{as_installed.base_url}/foreign.html")
    page.add_script_tag(path=str(HERE / "pages" / "attacks.js"))
    outcomes = attack(page, panel, as_installed.base_url)
    for name in ("cors_json", "models", "dashboard", "events", "script_of_the_dashboard", "image_of_the_dashboard"):
        assert outcomes[name], name
    assert rows_of(as_installed)["evidence_panel"] > before["evidence_panel"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/bench/verdict", "/admin/keys/gatewaykey/add/", "/admin/logout/"])
@pytest.mark.parametrize("host", FROM)
def test_a_form_that_takes_the_whole_window_along_is_refused(
    page: Page, site: Site, as_installed: RunningServer, host: str, path: str
) -> None:
    before = rows_of(as_installed)
    page.goto(f"{site.origin(host)}/foreign.html")
    with page.expect_navigation() as arrived:
        page.evaluate(
            """(action) => {
              const form = Object.assign(document.createElement("form"), { action, method: "POST", enctype: "text/plain" });
              form.append(Object.assign(document.createElement("input"), { name: "name", value: "mine" }));
              document.body.append(form);
              form.submit();
            }""",
            as_installed.base_url + path,
        )
    assert arrived.value.status == 403
    assert rows_of(as_installed) == before


def test_a_link_to_the_dashboard_may_be_followed_and_one_to_a_route_may_not(
    page: Page, site: Site, as_installed: RunningServer
) -> None:
    def followed(path: str) -> Response:
        page.goto(f"{site.origin(EVIL)}/foreign.html")
        page.evaluate("(href) => { document.querySelector('#link').href = href }", as_installed.base_url + path)
        with page.expect_navigation() as arrived:
            page.click("#link")
        return arrived.value

    assert followed("/admin/").status == 200
    expect(page).to_have_title(re.compile("Benchsite"))
    assert followed("/").status == 200
    assert followed("/v1/models").status == 403


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("path", ["/admin/", "/admin/login/", "/"])
def test_another_sites_frame_shows_none_of_its_pages(
    page: Page, site: Site, as_installed: RunningServer, to: str, path: str
) -> None:
    page.goto(f"{site.origin('localhost')}/foreign.html")
    page.evaluate(
        """(src) => new Promise((end) => {
          const frame = Object.assign(document.createElement("iframe"), { src, onload: end });
          document.body.append(frame);
        })""",
        f"http://{to}:{as_installed.port}{path}",
    )
    shown = page.frames[1].content()
    assert "Benchsite" not in shown


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_the_dashboard_answers_no_preflight_not_even_an_allowed_pages(
    page: Page, app: str, as_installed: RunningServer, method: str
) -> None:
    page.goto(f"{app}/foreign.html")
    asking = """([url, method]) => fetch(url, { method, headers: { "x-wanted": "1" } }).then(() => "read", () => "refused")"""
    assert page.evaluate(asking, [f"{as_installed.base_url}/admin/", method]) == "refused"
    # The gateway's own routes do answer it.
    assert page.evaluate(asking, [f"{as_installed.base_url}/v1/models", "GET"]) == "read"


@pytest.mark.parametrize("path", ["/v1/models", "/admin/", "/", "/healthz", "/static/benchsite/icon.svg"])
def test_a_name_that_is_rebound_to_this_machine_is_refused(page: Page, as_installed: RunningServer, path: str) -> None:
    before = rows_of(as_installed)
    reply = page.goto(f"http://{EVIL}:{as_installed.port}{path}")
    assert reply and reply.status == 403
    assert "BENCH_ALLOWED_HOSTS" in reply.text()
    # The page that came with that name is, for the browser, of the bench's own origin.
    asking = """(path) => fetch(path, { method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "bench/one", messages: [{ role: "user", content: "hi" }] }) })
      .then((reply) => reply.status)"""
    assert page.evaluate(asking, "/v1/chat/completions") == 403
    assert page.evaluate("fetch('/admin/').then((reply) => reply.status)") == 403
    assert rows_of(as_installed) == before
