"""/api-docs in a browser: axe finds nothing serious, the policy refuses nothing, a phone is wide enough, and shapes open."""

from collections.abc import Iterator

import pytest
from crawl import Seen
from playwright.sync_api import Page
from test_accessibility import AXE, LOOKS, found

from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    bench = bench_file(upstream.url, {"fast": {"model": "ok"}}, {"one": ["fast"]})
    with running_server(tmp_path_factory.mktemp("api"), bench) as running:
        yield running


def test_the_page_reads_well_in_both_themes_and_widths(page: Page, server: RunningServer) -> None:
    seen, faults = Seen(), list[str]()
    seen.watch(page)
    page.goto(f"{server.base_url}/api-docs")
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.evaluate(AXE.read_text())
    for width, scheme, only in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        faults += found(page, only)
        seen.look(page)
    assert faults + seen.faults == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_shape_opens_where_a_route_refers_to_it(page: Page, server: RunningServer, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{server.base_url}/api-docs")
    shape = page.locator("#shape-OpenAIChatRequest")
    assert not shape.is_visible()
    page.get_by_role("link", name="OpenAIChatRequest").first.click()
    shape.wait_for(state="visible")
    assert "messages" in shape.inner_text()
