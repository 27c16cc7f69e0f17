"""axe-core finds nothing serious on any page of the dashboard, wide and narrow, light and dark, whatever rows hold."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawl import Seen, crawled
from playwright.sync_api import Page, expect
from worst import TOKEN, ask_the_worst, bench_of, log_in

from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

AXE = Path(__file__).parent.parent / "axe" / "node_modules" / "axe-core" / "axe.min.js"
# What is not of colours is told by one look at each width.
LOOKS: tuple[tuple[int, str, tuple[str, ...]], ...] = (
    (1280, "light", ()),
    (390, "dark", ()),
    (1280, "dark", ("color-contrast",)),
    (390, "light", ("color-contrast",)),
)
BAD = ("serious", "critical")
# axe.run looks at what is there; rules that only have to be looked into by a person it gives apart.
RUN = """async (only) => {
  const { violations } = await axe.run(document, {
    resultTypes: ["violations"],
    ...(only.length ? { runOnly: { type: "rule", values: only } } : {}),
  });
  const told = ({ html, failureSummary }) => [html, failureSummary];
  return violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(told) }));
}"""


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("accessible")
    with running_server(folder, bench_of(upstream.url), BENCHWARMERS_ADMIN_TOKEN=TOKEN) as running:
        made = running.manage("create_key", "reader")
        assert made.returncode == 0, made.stderr
        ask_the_worst(running, made.stdout.strip())
        yield running


def found(page: Page, only: tuple[str, ...]) -> list[str]:
    """What axe has to say of the page as it looks now."""
    told: list[dict[str, Any]] = page.evaluate(RUN, list(only))
    return [
        f"{page.url} at {page.viewport_size}: {one['impact']} {one['id']}: {html[:200]} {why}"
        for one in told
        if one["impact"] in BAD
        for html, why in one["nodes"]
    ]


def test_axe_finds_what_is_wrong(page: Page) -> None:
    page.set_content("<html lang=en><title>x</title><main><h1>x</h1><input><p style='color:#bbb'>grey</p></main></html>")
    page.evaluate(AXE.read_text())
    told = found(page, ())
    assert len(told) == 2
    assert "critical label" in told[0] + told[1]
    assert "serious color-contrast" in told[0] + told[1]


def test_nothing_serious_is_found_on_any_page(page: Page, server: RunningServer) -> None:
    axe, seen, faults = AXE.read_text(), Seen(), list[str]()
    page.set_viewport_size({"width": 1280, "height": 900})
    log_in(page, server)
    seen.watch(page)
    pages = crawled(page, server.base_url)
    assert len(pages) > 50
    for path in pages:
        page.goto(server.base_url + path)
        # Not by a script of the page, which the policy of the site would refuse.
        page.evaluate(axe)
        for width, scheme, only in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            faults += found(page, only)
            seen.look(page)
    assert not faults, "\n".join(dict.fromkeys(faults))
    assert not seen.faults, "\n".join(seen.faults)


def test_what_is_being_looked_up_again_can_still_be_read(page: Page, server: RunningServer) -> None:
    log_in(page, server)
    # Never answered: a slow server's answer.
    page.route("**/admin/preview/**", lambda route: None)
    page.goto(f"{server.base_url}/admin/collections_app/collection/1/change/")
    expect(page.locator("[data-bench-preview][aria-busy]")).to_be_visible()
    page.evaluate(AXE.read_text())
    for width, scheme, _ in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert found(page, ("color-contrast",)) == []
