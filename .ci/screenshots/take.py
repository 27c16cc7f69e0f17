"""Takes docs/screenshots: every page of the dashboard in both themes, of a bench that is the same each time but for its dates.

Run by `make screenshots`. Nobody is asked: the panels are written by fill.py. Names given as arguments take those alone.
"""

import argparse
import base64
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from gateway.tests.running_server import RunningServer

HERE = Path(__file__).parent
TO = HERE.parent.parent / "docs" / "screenshots"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
WIDTH, HEIGHT, QUALITY = 1280, 860, 82
ROSTER, EVIDENCE = "/admin/collections_app", "/admin/evidence"
PAGES = {
    "overview": "/admin/",
    "playground": "/admin/playground/?collection=core",
    "playground-panel": "/admin/playground/{asked}/#play-panel",
    "gateway": f"{EVIDENCE}/panel/",
    "panel": f"{EVIDENCE}/panel/of/{{newest}}/",
    "answers": f"{EVIDENCE}/panel/of/{{newest}}/#member1",
    "collections": f"{ROSTER}/collection/",
    "collection": f"{ROSTER}/collection/1/change/",
    "who-would-sit": "/admin/preview/1/",
    "models": f"{ROSTER}/languagemodel/",
    "model": f"{ROSTER}/languagemodel/3/change/",
    "model-record": f"{EVIDENCE}/tally/model/1/",
    "endpoints": f"{ROSTER}/endpoint/",
    "endpoint": f"{ROSTER}/endpoint/2/change/",
    "discover": f"{ROSTER}/catalogentry/discover/",
    "onboarding": f"{ROSTER}/catalogentry/onboarding/",
    "leaderboard": f"{EVIDENCE}/tally/?shape=every",
    "trends": f"{EVIDENCE}/tally/trends/",
    "verdicts-owed": f"{EVIDENCE}/tally/owed/",
    "confidently-wrong": f"{EVIDENCE}/tally/wrong/?shape=every",
    "unique-finds": f"{EVIDENCE}/tally/finds/?shape=every",
    "explorers-to-promote": f"{EVIDENCE}/tally/promotions/",
    "alerts": f"{ROSTER}/alert/",
    "limits-left": f"{ROSTER}/cooldown/",
    "sources": f"{ROSTER}/catalogsource/",
    "jobs": "/admin/benchsite/jobrun/",
    "keys": "/admin/keys/gatewaykey/",
    "key": "/admin/keys/gatewaykey/add/",
    "limits": f"{ROSTER}/limits/1/change/",
    "shapes": f"{ROSTER}/shape/",
    "decision-models": f"{ROSTER}/decisionmodel/",
    "changes": f"{ROSTER}/change/",
    "staff": "/admin/auth/user/",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which, of {', '.join(PAGES)}; none: all")
    wanted = parser.parse_args().names or list(PAGES)
    TO.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="benchsite-screenshots-") as folder, running(Path(folder)) as server:
        of_panels = dict(server.rows("SELECT format = 'playground', max(panel_id) FROM evidence_panel GROUP BY 1"))
        ids = {"newest": of_panels[0], "asked": of_panels[1]}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for name in wanted:
                for page, theme in opened(browser, server.base_url):
                    page.goto(PAGES[name].format(**ids))
                    take(page, TO / f"{name}-{theme}.webp")
            browser.close()
    size = sum(path.stat().st_size for path in TO.glob("*.webp"))
    print(f"{len(list(TO.glob('*.webp')))} pictures, {size / 1_000_000:.1f} MB")


@contextmanager
def running(folder: Path) -> Iterator[RunningServer]:
    """A server of the bench in bench.toml, with what fill.py writes."""
    environment = {"PYTHONPATH": str(HERE), "OPENROUTER_API_KEY": "not-a-key", "HTTPS_PROXY": "http://127.0.0.1:9"}
    server = RunningServer(folder, environment=environment)
    server.load((HERE / "bench.toml").read_text())
    filled = server.manage("shell", "-v", "0", "-c", "import fill")
    assert filled.returncode == 0, filled.stderr
    server.start()
    try:
        yield server
    finally:
        server.stop()


def opened(browser: Browser, base_url: str) -> Iterator[tuple[Page, str]]:
    """A page in each theme, at rest: nothing moves, and no caret blinks."""
    for theme in ("light", "dark"):
        context = browser.new_context(
            base_url=base_url,
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme=theme,
            reduced_motion="reduce",
            timezone_id="UTC",
        )
        yield context.new_page(), theme
        context.close()


def take(page: Page, path: Path) -> None:
    """One picture of what a window shows. WebP, which playwright itself does not write."""
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    page.evaluate("location.hash && document.querySelector(location.hash)?.scrollIntoView()")
    # Charts draw themselves, and what a live page has asked for comes.
    page.wait_for_timeout(600)
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    path.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main()
