"""Every page of a dashboard, as links lead to them from the first one, and what may go wrong on any."""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urldefrag, urlsplit

from playwright.sync_api import Page, Request

# In an address, what is one of many pages of a kind.
ONE_OF_MANY = (
    (re.compile(r"/onboarding/(provider|endpoint)/[^/]+/"), r"/onboarding/\1/any/"),
    (re.compile(r"/p\d{8}-\d{6}-[0-9a-f]{4}/"), "/any/"),
    (re.compile(r"/\d+/"), "/1/"),
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
        page.on("requestfailed", lambda failed: self._note_request(page, failed))

    def _note_request(self, page: Page, failed: Request) -> None:
        # What was still on its way when a page was left is no fault of it.
        if failed.failure != "net::ERR_ABORTED":
            self.faults.append(f"{page.url}: {failed.url} did not load: {failed.failure}")

    def look(self, page: Page) -> None:
        """Note what the page now shown has run or tried to."""
        told: dict[str, Any] = page.evaluate("""() => ({
          ran: window.__pwned ?? null,
          violations: window.__violations,
          links: [...document.querySelectorAll("[href^='javascript:' i], [src^='javascript:' i], [onerror], iframe")].length,
          wider: Math.max(0, document.scrollingElement.scrollWidth - innerWidth),
        })""")
        self.faults += [f"{page.url} at {page.viewport_size}: {name} {found}" for name, found in told.items() if found]


def crawled(page: Page, base_url: str) -> list[str]:
    """The paths of the dashboard's pages: of rows, one of each kind."""
    found: dict[tuple[str, bool], str] = {}
    waiting = ["/admin/"]
    while waiting:
        path = waiting.pop(0)
        if (kind := kind_of(path)) in found or not path.startswith("/admin/"):
            continue
        page.goto(base_url + path)
        # Some only lead to another, which may have been found before.
        path = page.url.removeprefix(base_url)
        if kind_of(path) in found:
            continue
        found[kind] = found[kind_of(path)] = path
        links = page.eval_on_selector_all("a[href]", "(all) => all.map((link) => link.href)")
        waiting += [urldefrag(link).url.removeprefix(base_url) for link in links if link.startswith(base_url)]
    return list(dict.fromkeys(found.values()))


def kind_of(path: str) -> tuple[str, bool]:
    """Lists filtered and sorted are one page, and so are rows'; one in a window of its own, to choose from, is another."""
    kind = urlsplit(path).path
    for one, any_of_them in ONE_OF_MANY:
        kind = one.sub(any_of_them, kind)
    return kind, "_popup=" in path
