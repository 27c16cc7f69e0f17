"""The playground in a real browser: from a prompt to two verdicts by keyboard, images, hostile answers, nothing that jumps."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile
import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import Faultless
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
PLAYGROUND = "/admin/playground/"
PANEL = re.compile(r"/admin/playground/p\d{8}-\d{6}-[0-9a-f]{4}/")
MODELS = {
    "brief": {"model": "say-**No**-stale-read."},
    "ticking": {"model": "tick-0.05"},
    "late": {"model": "slow-1.5"},
    "sees": {"model": "echo", "vision": True, "role": "code"},
    "failing": {"model": "err-500"},
    hostile.ALIAS: {"model": "echo", "role": "code", "family": ["worst"]},
    "served": {"model": hostile.SERVED, "role": "code"},
}
COLLECTIONS = {
    "core": ["brief", "ticking", "late"],
    "eyes": ["sees"],
    "mixed": ["brief", "failing", "ticking"],
    hostile.COLLECTION: [hostile.ALIAS, "served"],
}
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
# What moved without being asked to, and how far, as Chromium counts it.
WATCH_JUMPS = """
  window.__jumped = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__jumped += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
"""
GIVE = """([target, kind, data]) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const given = new DataTransfer();
  given.items.add(new File([bytes], "holiday.png", { type: "image/png" }));
  const how = { bubbles: true, cancelable: true };
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { ...how, clipboardData: given })
    : new DragEvent("drop", { ...how, dataTransfer: given });
  document.querySelector(target).dispatchEvent(event);
}"""


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    bench = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path_factory.mktemp("playground"), bench) as running:
        yield running


@pytest.fixture
def page(faultless: Faultless, server: RunningServer) -> Iterator[Page]:
    with faultless(server) as page:
        page.add_init_script(WATCH_JUMPS)
        page.goto(PLAYGROUND)
        yield page


def ask(page: Page, collection: str, prompt: str = "Is there a race?") -> None:
    page.get_by_role("radio", name=f"bench/{collection}").check()
    page.fill("#play-prompt", prompt)
    page.press("#play-prompt", "Control+Enter")
    page.wait_for_url(PANEL)


def ended(page: Page) -> None:
    expect(page.locator("[data-status=running]")).to_have_count(0)


def tab_to(page: Page, selector: str) -> None:
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not lead to {selector}")


def test_a_panel_of_three_from_the_prompt_to_two_verdicts_by_keyboard_alone(page: Page, server: RunningServer) -> None:
    expect(page.locator("#play-prompt")).to_be_focused()
    page.keyboard.type("Is there a race in this cache?")
    page.keyboard.press("Shift+Tab")
    # Between radio buttons by arrows, as everywhere; the first time Tab stops at whichever is nearest.
    while not page.evaluate("document.activeElement.checked && document.activeElement.value === 'bench/core'"):
        page.keyboard.press("ArrowDown")
    tab_to(page, "#play-prompt")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(PANEL)
    expect(page.locator("#member1")).to_contain_text("No stale read.")
    clock = page.locator("#member3 [data-clock]")
    expect(clock).to_have_text(re.compile(r"^\d+$"))
    ended(page)
    expect(page.locator("[data-said]")).to_contain_text("late ok")
    tab_to(page, "#member1-useful")
    page.keyboard.press("Enter")
    expect(page.locator("#member1 .panel-verdict")).to_contain_text("Useful")
    expect(page.locator("#member1-useful")).to_be_focused()
    tab_to(page, "#member2 summary")
    while page.evaluate("document.activeElement.textContent") != "Claims, score, correction":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("It ticks.")
    tab_to(page, "#member2-not-useful")
    page.keyboard.press("Enter")
    expect(page.locator("#member2 .panel-verdict")).to_contain_text("Not useful")
    assert server.rows("SELECT useful, false FROM evidence_verdict ORDER BY id") == [(1, "[]"), (0, '["It ticks."]')]


def test_nothing_jumps_while_answers_land(page: Page) -> None:
    ask(page, "core", "Long, please.")
    expect(page.locator("#member1 .seat-waiting")).to_have_count(0)
    # What follows a key press counts as wanted by it, for half a second.
    page.wait_for_timeout(600)
    page.evaluate("window.__jumped = 0")
    places = "[...document.querySelectorAll('.seat, .play-beside, #panel-summary')].map((one) => one.getBoundingClientRect().y)"
    before = page.evaluate(places)
    ended(page)
    assert page.evaluate(places) == before
    assert page.evaluate("window.__jumped") < 0.01


def test_a_verdict_in_writing_is_left_alone_when_another_answer_lands(page: Page) -> None:
    ask(page, "core", "Written meanwhile.")
    page.fill("#member1 textarea[name=note]", "half a sente")
    ended(page)
    expect(page.locator("#member1 textarea[name=note]")).to_be_focused()
    page.keyboard.type("nce")
    page.locator("#member1-useful").click()
    expect(page.locator("#member1 .panel-verdict")).to_contain_text("half a sentence")


def test_a_merge_is_told_while_it_waits_and_lands_below(page: Page) -> None:
    page.get_by_label("one merged from them").check()
    ask(page, "core", "Merge them.")
    expect(page.locator("[data-beside]")).to_contain_text("The merge waits for every seat")
    expect(page.locator("#merger")).to_contain_text("No stale read.")
    expect(page.locator("[data-beside]")).to_have_text("")


@pytest.mark.parametrize("how", ["paste", "drop", "choose"])
def test_an_image_is_given_seen_sent_and_forgotten(page: Page, upstream: FakeUpstream, how: str) -> None:
    if how == "choose":
        page.set_input_files("#play-image", {"name": "holiday.png", "mimeType": "image/png", "buffer": PNG})
    else:
        page.evaluate(GIVE, ["#play-prompt", how, base64.b64encode(PNG).decode()])
    expect(page.locator("#play-image-shown")).to_contain_text("holiday.png, 70 bytes")
    expect(page.locator("#play-image-shown img")).to_be_visible()
    page.get_by_role("radio", name="bench/core").check()
    expect(page.locator("#play-size")).to_contain_text("will be skipped: brief")
    ask(page, "eyes", f"What is on it, by {how}?")
    ended(page)
    sent = upstream.requests[-1].body["messages"][-1]["content"]
    assert sent[1]["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(PNG).decode()
    expect(page.locator("#play-image-shown")).to_be_hidden()
    assert "holiday" not in page.content()
    assert "iVBORw0KGgo" not in page.content()
    assert page.evaluate("document.getElementById('play-image').files.length") == 0
    expect(page.locator(".play-snippets")).to_contain_text("base64 < image.png")


def test_what_is_no_image_is_not_sent(page: Page) -> None:
    page.set_input_files("#play-image", {"name": "notes.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"})
    expect(page.locator("#play-image-shown")).to_contain_text("not a png, jpeg, webp or gif")
    page.get_by_role("radio", name="bench/eyes").check()
    page.fill("#play-prompt", "Read it.")
    page.press("#play-prompt", "Control+Enter")
    expect(page).to_have_url(re.compile(f"{PLAYGROUND}$"))
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("#play-image-shown")).to_be_hidden()


def test_a_refusal_is_told_beside_the_form_which_stays(page: Page) -> None:

    page.set_input_files("#play-image", {"name": "holiday.png", "mimeType": "image/png", "buffer": PNG})
    page.get_by_role("radio", name="bench/core").check()
    page.fill("#play-prompt", "What is on it?")
    page.press("#play-prompt", "Control+Enter")
    expect(page.locator("#play-refusal")).to_contain_text("No seat of this collection can see")
    expect(page.locator(".play-refusal")).to_be_focused()
    expect(page.locator("#play-prompt")).to_have_value("What is on it?")
    expect(page.locator("#play-image-shown")).to_be_visible()
    ask(page, "eyes", "What is on it?")
    expect(page.locator("#play-refusal")).to_be_empty()


def test_the_request_is_copied_for_a_shell(page: Page, server: RunningServer) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.base_url)
    ask(page, "core", "It's $(hostname) & `id`\n\u202ereversed")
    page.get_by_role("button", name="Copy curl").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "It'\\''s $(hostname) & `id`\\n\\u202ereversed" in copied
    expect(page.locator("#play-said")).to_have_text("Copied.")
    ended(page)


def test_names_stay_hidden_until_their_answers_are_judged(page: Page) -> None:
    page.get_by_label("hide who answered").check()
    ask(page, "core", "Blind.")
    ended(page)
    seats = page.locator("[data-answers]")
    assert not re.search("brief|ticking|late|member", seats.inner_text())
    seats.get_by_role("button", name="Useful: Answer A", exact=True).click()
    expect(seats.locator(".panel-verdict")).to_have_count(1)
    assert len(set(re.findall("brief|ticking|late", seats.inner_text()))) == 1


def test_without_scripts_it_asks_tells_to_reload_and_judges(browser: Browser, server: RunningServer) -> None:
    context = browser.new_context(base_url=server.base_url, java_script_enabled=False)
    page = context.new_page()
    page.goto(PLAYGROUND)
    page.get_by_role("radio", name="bench/core").check()
    page.fill("#play-prompt", "Without scripts.")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#member3")).to_contain_text("Still answering")
    page.wait_for_timeout(2000)
    page.reload()
    ended(page)
    page.locator("#member3-not-useful").click()
    expect(page.locator("#member3 .panel-verdict")).to_contain_text("Not useful")
    context.close()


def test_it_fits_and_hostile_answers_do_nothing_wide_and_narrow_light_and_dark(
    faultless: Faultless, server: RunningServer, screenshots: Path
) -> None:
    for width, scheme in LOOKS:
        with faultless(server, viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
            for collection, prompt in ((hostile.COLLECTION, hostile.TEXT), ("mixed", "Is there a race?")):
                page.goto(PLAYGROUND)
                ask(page, collection, prompt)
                look(page, screenshots / f"playground-{collection[:5]}-running.{width}.{scheme}.png")
                ended(page)
                page.locator("[data-judge=yes]").first.click()
                expect(page.locator(".panel-verdict")).to_have_count(1)
                page.evaluate("for (const one of document.querySelectorAll('.play-snippets details')) one.open = true")
                look(page, screenshots / f"playground-{collection[:5]}.{width}.{scheme}.png")


def look(page: Page, path: Path) -> None:
    told: dict[str, Any] = page.evaluate("""() => ({
      ran: window.__pwned ?? null,
      wider: Math.max(0, document.scrollingElement.scrollWidth - innerWidth),
      links: document.querySelectorAll("[href^='javascript:' i], [onerror], iframe").length,
    })""")
    assert told == {"ran": None, "wider": 0, "links": 0}, path
    page.screenshot(path=path, full_page=True)
