"""Evidence and the overview in a browser: from a first panel to the leaderboard, by keyboard, without scripts, in any look."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import Faultless
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

MODELS = {"fast": {"model": "say-No-race."}, "slow": {"model": "say-A-race."}, "third": {"model": "say-Perhaps."}}
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
ROOT = "/admin/evidence/tally/"
PAGES = ("/admin/", *(ROOT + name for name in ("", "trends/", "owed/", "wrong/", "finds/", "promotions/")))
# Every chart that was drawn, and whether anything can be seen on it.
DRAWN = """() => [...document.querySelectorAll("canvas")].map((canvas) => {
  const blank = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  return Boolean(Chart.getChart(canvas)) && canvas.toDataURL() !== blank.toDataURL();
})"""


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    bench = bench_file(upstream.url, MODELS, {"core": ["fast", "slow"]}) + "\n[limits]\nmax_explorers = 1\n"
    with running_server(tmp_path_factory.mktemp("evidence"), bench) as running:
        yield running


@pytest.fixture
def page(faultless: Faultless, server: RunningServer) -> Iterator[Page]:
    """A page on which nothing may fail."""
    with faultless(server, color_scheme="light") as page:
        yield page


def ask(server: RunningServer, useful: dict[str, bool]) -> None:
    """A panel, and the verdicts that are given on it, by alias."""
    seats = server.chat("bench/core").json["bench"]["seats"]
    for seat in seats:
        if seat["alias"] in useful:
            claims = {"real": [f"{seat['alias']} saw it"], "false": ["the cache is cold"] if not useful[seat["alias"]] else []}
            verdict = {"call": seat["call"], "useful": useful[seat["alias"]], **claims}
            assert server.request("POST", "/bench/verdict", verdict).status == 200


def test_the_first_page_leads_from_nothing_to_a_first_verdict(page: Page, server: RunningServer) -> None:
    page.goto("/admin/")
    steps = page.get_by_role("region", name="First steps")
    expect(steps.get_by_text("done")).to_have_count(2)
    ask(server, {})
    page.reload()
    expect(steps.get_by_text("done")).to_have_count(3)
    steps.get_by_role("link", name="Judge a first answer").click()
    expect(page).to_have_url(f"{server.base_url}/admin/evidence/panel/1/change/")
    ask(server, {"fast": True})
    page.goto("/admin/")
    expect(steps).to_have_count(0)
    expect(page.get_by_role("region", name="Panels")).to_contain_text("6 of 6 seats answered")


@pytest.fixture(scope="module")
def judged(server: RunningServer) -> None:
    """`slow` and the explorer were useful five times, and `fast` was not."""
    for _ in range(5):
        ask(server, {"fast": False, "slow": True, "third": True})


@pytest.mark.usefixtures("judged")
def test_the_leaderboard_ranks_and_is_filtered_by_keyboard(page: Page) -> None:
    page.goto(ROOT)
    rows = page.locator("tbody tr")
    expect(rows.first).to_contain_text("5 of 5, 57 to 100")
    expect(page.locator("tbody tr", has=page.get_by_role("link", name="fast", exact=True))).to_contain_text(
        re.compile("0 of 5|1 of 6")
    )
    page.get_by_label("Seat").focus()
    page.keyboard.type("expl")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "submit":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**seat=explorer**")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("third")


@pytest.mark.usefixtures("judged")
def test_a_table_is_had_as_csv(page: Page, tmp_path: Path) -> None:
    page.goto(ROOT)
    with page.expect_download() as download:
        page.get_by_role("link", name="This table as CSV").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    with (tmp_path / "benchsite-leaderboard.csv").open(newline="") as file:
        assert {row["alias"] for row in csv.DictReader(file)} == set(MODELS)


@pytest.mark.usefixtures("judged")
def test_what_stands_out_leads_to_where_it_is_acted_on(page: Page, server: RunningServer) -> None:
    page.goto(f"{ROOT}promotions/")
    row = page.locator("tbody tr", has_text="third")
    expect(row).to_contain_text("fast")
    row.get_by_role("link", name="Change").click()
    expect(page).to_have_url(f"{server.base_url}/admin/collections_app/collection/1/change/")
    page.goto(f"{ROOT}wrong/")
    expect(page.locator("tbody tr")).to_contain_text("fast")
    expect(page.get_by_role("region", name="The latest claims that did not hold")).to_contain_text("the cache is cold")
    page.goto(f"{ROOT}owed/")
    link = page.locator("tbody th a").first
    seat = (link.get_attribute("href") or "").partition("#")[2]
    link.click()
    expect(page.locator(f"[id='{seat}']")).to_be_in_viewport()


@pytest.mark.usefixtures("judged")
def test_trends_are_drawn_and_drawn_again_when_the_theme_changes(page: Page) -> None:
    page.goto(f"{ROOT}trends/")
    assert page.evaluate(DRAWN) == [True] * 4
    colour = "Chart.getChart(document.querySelector('canvas')).data.datasets[0].backgroundColor"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark\b"))
    # Not by a function to wait for: the page's policy lets no text be run as code.
    for _ in range(40):
        if page.evaluate(colour) != light:
            break
        page.wait_for_timeout(50)
    assert page.evaluate(colour) != light
    assert page.evaluate(DRAWN) == [True] * 4


@pytest.mark.usefixtures("judged")
def test_without_scripts_the_numbers_are_there(browser: Browser, server: RunningServer) -> None:
    context = browser.new_context(base_url=server.base_url, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{ROOT}trends/")
    expect(page.locator("tbody tr").first).to_be_visible()
    expect(page.locator("canvas").first).to_be_hidden()
    page.goto(ROOT)
    page.get_by_label("Seat").select_option("member")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    context.close()


@pytest.mark.usefixtures("judged")
def test_every_page_fits_wide_and_narrow_light_and_dark(page: Page, screenshots: Path) -> None:
    for path in PAGES:
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.goto(path)
            name = path.removeprefix(ROOT).strip("/").replace("admin", "overview") or "leaderboard"
            page.screenshot(path=screenshots / f"evidence-{name}.{width}.{scheme}.png", full_page=True)
            assert page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0, (path, width)
