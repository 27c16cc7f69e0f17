"""Every page of the dashboard, with the worst that answers and names can hold: loads clean, runs nothing of it, fits.

The pages are those that links lead to from the first one. What each looks like is left in screenshots/.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import hostile
import pytest
from crawl import Seen, crawled
from playwright.sync_api import BrowserContext, Page, expect
from worst import TOKEN, ask_the_worst, bench_of, log_in

from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
ASKED_FOR_BADLY = (
    "/admin/evidence/panel/?_facets=True&q=%3Cscript%3Ewindow.__pwned%3D16%3C/script%3E",
    "/admin/collections_app/collection/add/?name=%22%3E%3Cscript%3Ewindow.__pwned%3D17%3C/script%3E",
)


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("hostile")
    with running_server(folder, bench_of(upstream.url), BENCHWARMERS_ADMIN_TOKEN=TOKEN) as running:
        yield running


@pytest.fixture
def seen(page: Page, server: RunningServer) -> Seen:
    seen = Seen()
    log_in(page, server)
    seen.watch(page)
    return seen


def test_a_key_is_made_shown_once_copied_and_of_use(
    context: BrowserContext, page: Page, seen: Seen, server: RunningServer, screenshots: Path
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.base_url)
    page.goto(f"{server.base_url}/admin/keys/gatewaykey/add/")
    page.fill("input[name=name]", hostile.KEY)
    page.get_by_role("button", name="Save", exact=True).click()
    key = page.input_value("#new-key")
    page.click("#copy-key")
    expect(page.locator("#copied")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == key
    page.screenshot(path=screenshots / "key-made.png", full_page=True)
    seen.look(page)
    assert seen.faults == []
    ask_the_worst(server, key)


def test_a_change_made_in_the_dashboard_is_shown_as_it_was_typed(page: Page, seen: Seen, server: RunningServer) -> None:
    page.goto(f"{server.base_url}/admin/collections_app/collection/")
    page.get_by_role("link", name=f"bench/{hostile.COLLECTION}").click()
    page.fill("textarea[name=description]", "'\"><script>window.__pwned = 15</script>")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("/collection/$"))
    page.goto(f"{server.base_url}/admin/collections_app/change/")
    expect(page.locator("body")).to_contain_text("<script>window.__pwned = 15</script>")
    seen.look(page)
    assert seen.faults == []


def file_name(path: str) -> str:
    return re.sub(r"[^\w]+", "-", path.removeprefix("/admin/"))[:80].strip("-") or "first"


def test_every_page_loads_clean_wide_and_narrow_light_and_dark(
    page: Page, seen: Seen, server: RunningServer, screenshots: Path
) -> None:
    tables = [name for (name,) in server.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    counted = {name: server.rows(f'SELECT count(*) FROM "{name}"') for name in tables}
    pages = [*crawled(page, server.base_url), *ASKED_FOR_BADLY]
    assert len(pages) > 50
    assert any(path.startswith("/admin/evidence/panel/") and path.count("/") > 4 for path in pages)
    for path in pages:
        reply = page.goto(server.base_url + path)
        assert reply and reply.status == 200, path
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            expect(page.locator("html.dark")).to_have_count(int(scheme == "dark"))
            page.screenshot(path=screenshots / f"{file_name(path)}.{width}.{scheme}.png", full_page=True)
            seen.look(page)
    assert not seen.faults, "\n".join(seen.faults)
    # Looking writes nothing.
    assert {name: server.rows(f'SELECT count(*) FROM "{name}"') for name in tables} == counted
