"""Every page of the dashboard, with the worst that answers and names can hold: loads clean, runs nothing of it, fits.

The pages are those that links lead to from the first one. What each looks like is left in screenshots/.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

import hostile
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

TOKEN = "a-token-of-24-characters"
MODELS = {
    hostile.ALIAS: {"model": "echo", "family": ["worst"]},
    "served": {"model": hostile.SERVED},
    "failing": {"model": "echo-error"},
    "cut": {"model": "echo-cut"},
    "thinking": {"model": "think-tags"},
    "gone": {"model": "say-gone", "status": "retired"},
}
LOOKS = [(width, scheme) for width in (1280, 400) for scheme in ("light", "dark")]
ASKED_FOR_BADLY = (
    "/admin/evidence/panel/?_facets=True&q=%3Cscript%3Ewindow.__pwned%3D16%3C/script%3E",
    "/admin/collections_app/collection/add/?name=%22%3E%3Cscript%3Ewindow.__pwned%3D17%3C/script%3E",
)
WATCH = """
  window.__violations = [];
  document.addEventListener("securitypolicyviolation", (e) => __violations.push(`${e.violatedDirective} ${e.blockedURI}`));
"""


@dataclass
class Seen:
    """What went wrong on the pages so far."""

    faults: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.add_init_script(WATCH)
        page.on("console", lambda said: said.type in ("error", "warning") and self.faults.append(f"{page.url}: {said.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: {error}"))
        page.on("dialog", lambda dialog: (self.faults.append(f"{page.url}: a dialog"), dialog.dismiss()))
        page.on("requestfailed", lambda failed: self.faults.append(f"{page.url}: {failed.url} did not load"))

    def look(self, page: Page) -> None:
        """Note what the page now shown has run or tried to."""
        told: dict[str, Any] = page.evaluate("""() => ({
          ran: window.__pwned ?? null,
          violations: window.__violations,
          links: [...document.querySelectorAll("[href^='javascript:' i], [src^='javascript:' i], [onerror], iframe")].length,
          wider: Math.max(0, document.scrollingElement.scrollWidth - innerWidth),
        })""")
        self.faults += [f"{page.url} at {page.viewport_size}: {name} {found}" for name, found in told.items() if found]


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    bench = bench_file(upstream.url, MODELS, {hostile.COLLECTION: list(MODELS)}) + "\n[limits]\nmax_explorers = 0\n"
    bench = bench.replace(f'"For {hostile.COLLECTION}"', json.dumps(hostile.LINE[:300]))
    with running_server(tmp_path_factory.mktemp("hostile"), bench, BENCHWARMERS_ADMIN_TOKEN=TOKEN) as running:
        yield running


@pytest.fixture
def seen(page: Page, server: RunningServer) -> Seen:
    seen = Seen()
    page.goto(f"{server.base_url}/admin/")
    page.fill("input[name=token]", TOKEN)
    page.click("button:has-text('Log in')")
    expect(page).to_have_url(f"{server.base_url}/admin/")
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


def ask_the_worst(server: RunningServer, key: str) -> None:
    """A panel whose request, answers, errors and verdicts are hostile."""
    body = {"model": f"bench/{hostile.COLLECTION}", "messages": [{"role": "user", "content": hostile.TEXT}]}
    headers = {"Authorization": f"Bearer {key}"}
    seats = server.request("POST", "/v1/chat/completions", body, headers).json["bench"]["seats"]
    assert any(hostile.TEXT[:60] in (seat["answer"] or "") for seat in seats)
    for call in (seat["call"] for seat in seats if seat["status"] == "ok"):
        worst = {"note": hostile.TEXT, "real": [hostile.LINE], "false": [hostile.LINE], "correction": hostile.TEXT}
        reply = server.request("POST", "/bench/verdict", {"call": call, "useful": True, **worst}, headers)
        assert reply.status == 200, reply.body


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


def crawled(page: Page, server: RunningServer) -> list[str]:
    """The paths of the dashboard's pages: of rows, one of each kind."""
    found: dict[tuple[str, bool], str] = {}
    waiting = ["/admin/"]
    while waiting:
        path = waiting.pop(0)
        if (kind := kind_of(path)) in found or not path.startswith("/admin/"):
            continue
        found[kind] = path
        page.goto(server.base_url + path)
        links = page.eval_on_selector_all("a[href]", "(all) => all.map((link) => link.href)")
        waiting += [urldefrag(link).url.removeprefix(server.base_url) for link in links if link.startswith(server.base_url)]
    return [*found.values(), *ASKED_FOR_BADLY]


def kind_of(path: str) -> tuple[str, bool]:
    """Lists filtered and sorted are one page, and so are providers'; one in a window of its own, to choose from, is another."""
    kind = re.sub(r"/onboarding/(provider|endpoint)/[^/]+/", r"/onboarding/\1/any/", urlsplit(path).path)
    return re.sub(r"/\d+/", "/1/", kind), "_popup=" in path


def file_name(path: str) -> str:
    return re.sub(r"[^\w]+", "-", path.removeprefix("/admin/"))[:80].strip("-") or "first"


def test_every_page_loads_clean_wide_and_narrow_light_and_dark(
    page: Page, seen: Seen, server: RunningServer, screenshots: Path
) -> None:
    tables = [name for (name,) in server.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    counted = {name: server.rows(f'SELECT count(*) FROM "{name}"') for name in tables}
    pages = crawled(page, server)
    assert len(pages) > 25
    assert any(re.fullmatch(r"/admin/evidence/panel/\d+/change/", path) for path in pages)
    for path in pages:
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            reply = page.goto(server.base_url + path)
            assert reply and reply.status == 200, path
            assert page.evaluate("document.documentElement.classList.contains('dark')") is (scheme == "dark"), path
            page.screenshot(path=screenshots / f"{file_name(path)}.{width}.{scheme}.png", full_page=True)
            seen.look(page)
    assert not seen.faults, "\n".join(seen.faults)
    # Looking writes nothing.
    assert {name: server.rows(f'SELECT count(*) FROM "{name}"') for name in tables} == counted
