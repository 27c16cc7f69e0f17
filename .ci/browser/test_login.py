"""The admin token in a real browser: what it opens, what the cookies are, and that a foreign page has no use of them."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sites import EVIL, Site

from gateway.tests.running_server import RunningServer, running_server

TOKEN = "a-token-of-24-characters"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("guarded"), "", BENCHWARMERS_ADMIN_TOKEN=TOKEN) as server:
        yield server


def log_in(page: Page, server: RunningServer, token: str = TOKEN) -> None:
    page.goto(f"{server.base_url}/admin/")
    page.fill("input[name=token]", token)
    page.click("button:has-text('Log in')")


def test_the_token_opens_the_dashboard_and_logging_out_closes_it(page: Page, guarded: RunningServer) -> None:
    log_in(page, guarded)
    expect(page).to_have_url(f"{guarded.base_url}/admin/")
    expect(page.get_by_role("link", name="Collections").first).to_be_visible()
    page.get_by_text("operator").first.click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("Logged out")).to_be_visible()
    # Nothing of the dashboard was kept to go back to.
    page.go_back()
    expect(page).to_have_url(re.compile("/admin/login/"))
    expect(page.get_by_role("link", name="Collections")).to_have_count(0)


def test_its_cookies_are_of_no_use_to_a_script_or_another_site(
    context: BrowserContext, page: Page, guarded: RunningServer
) -> None:
    log_in(page, guarded)
    expect(page).to_have_url(f"{guarded.base_url}/admin/")
    cookies = {cookie["name"].rpartition("_")[0]: cookie for cookie in context.cookies()}
    assert cookies.keys() == {"bench_session", "bench_csrf"}
    for cookie in cookies.values():
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
    assert page.evaluate("document.cookie") == ""
    assert TOKEN not in str(cookies)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", EVIL])
def test_a_foreign_page_has_no_use_of_a_login(page: Page, site: Site, guarded: RunningServer, host: str) -> None:
    log_in(page, guarded)
    expect(page).to_have_url(f"{guarded.base_url}/admin/")
    page.goto(f"{site.origin(host)}/foreign.html")
    outcomes = page.evaluate("(base) => attack(base)", guarded.base_url)
    assert {name: found for name, found in outcomes.items() if found} == {}
    assert guarded.rows("SELECT name FROM keys_gatewaykey UNION SELECT name FROM collections_app_collection") == []
    # A link from there leads into the dashboard, where its person is still logged in.
    page.evaluate("(href) => { document.querySelector('#link').href = href }", f"{guarded.base_url}/admin/")
    page.click("#link")
    expect(page.get_by_role("link", name="Collections").first).to_be_visible()


def test_another_token_is_refused_and_only_so_often(page: Page, guarded: RunningServer) -> None:
    for _ in range(5):
        log_in(page, guarded, "another-token-altogether")
        expect(page.get_by_text("That is not the admin token.")).to_be_visible()
        assert page.input_value("input[name=token]") == ""
    log_in(page, guarded)
    expect(page.get_by_role("heading", name="Too many tries")).to_be_visible()
    page.goto(f"{guarded.base_url}/admin/")
    expect(page).to_have_url(re.compile("/admin/login/"))
