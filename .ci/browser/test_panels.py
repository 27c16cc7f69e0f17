"""Gateway in a real browser: panels as their seats answer, judged by keyboard, blind, without scripts, wide and narrow."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import hostile
import pytest
from benches.panels import PROMPT, ask, bench_of, path_of, verdicts_of
from playwright.sync_api import Page, expect

from conftest import Faultless
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
LIST = "/admin/evidence/panel/"
SHIFTS = """
  window.__shift = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.__shift += one.value;
  }).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("panels"), bench_of(upstream.url)) as running:
        yield running


@pytest.fixture
def page(faultless: Faultless, server: RunningServer) -> Iterator[Page]:
    with faultless(server) as page:
        page.context.set_default_timeout(15_000)
        yield page


@pytest.fixture
def plain_page(faultless: Faultless, server: RunningServer) -> Iterator[Page]:
    with faultless(server, java_script_enabled=False) as page:
        page.context.set_default_timeout(15_000)
        yield page


def test_a_panel_appears_and_its_answers_land_as_they_finish(page: Page, server: RunningServer) -> None:
    ask(server, "core")
    page.add_init_script(SHIFTS)
    page.goto(LIST)
    rows = page.locator("tbody tr[data-panel]")
    before = rows.count()
    asking = threading.Thread(target=ask, args=(server, "live"))
    asking.start()
    new = page.get_by_role("button", name="1 new panel")
    expect(new).to_be_visible()
    assert rows.count() == before
    new.click()
    expect(rows).to_have_count(before + 1)
    expect(rows.first).to_contain_text("late running")
    rows.first.get_by_role("link").click()
    late = page.locator("[data-seat=member2]")
    expect(late).to_contain_text("Still answering")
    quick = page.locator("[data-seat=member1]")
    expect(quick).to_contain_text("No stale read here.")
    quick.get_by_label("Note on quick").fill("still typing")
    top = quick.bounding_box()
    expect(late).to_contain_text("The answer is 42.")
    assert quick.bounding_box() == top
    assert page.evaluate("window.__shift") < 0.02
    expect(quick.get_by_label("Note on quick")).to_have_value("still typing")
    expect(page.locator("#panel-summary")).not_to_contain_text("running")
    expect(page.locator("[data-said]")).to_contain_text("late ok")
    asking.join()


def test_rows_of_the_list_change_in_place(page: Page, server: RunningServer) -> None:
    page.goto(LIST)
    asking = threading.Thread(target=ask, args=(server, "live"))
    asking.start()
    page.get_by_role("button", name="new panel").click()
    panel = page.locator("tbody tr").first.get_attribute("data-panel")
    expect(page.locator(f"tr[data-panel='{panel}']")).to_contain_text("late ok")
    expect(page.locator(f"tr[data-panel='{panel}']")).to_contain_text("3 owed")
    asking.join()


def test_answers_are_judged_by_keyboard(page: Page, server: RunningServer) -> None:
    panel = ask(server, "core")
    page.goto(path_of(server, panel))
    page.keyboard.press("n")
    expect(page.locator("[data-seat=member1]")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("[data-seat=member2]")).to_be_focused()
    page.keyboard.press("p")
    page.keyboard.press("x")
    expect(page.locator("[data-said]")).to_have_text("echo judged not useful.")
    expect(page.locator("[data-seat=member1]")).to_contain_text("Not useful by local")
    page.keyboard.press("n")
    page.keyboard.press("u")
    expect(page.locator("[data-said]")).to_have_text("quick judged useful.")
    page.keyboard.press("u")
    expect(page.locator("[data-said]")).to_contain_text("nothing was written")
    assert [(seat, useful) for seat, useful, *_ in verdicts_of(server, panel)] == [("member1", 0), ("member2", 1)]
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("this one was useful")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_keys_are_letters_while_somebody_types(page: Page, server: RunningServer) -> None:
    panel = ask(server, "core")
    page.goto(path_of(server, panel))
    quick = page.locator("[data-seat=member2]")
    quick.get_by_label("Note on quick").click()
    page.keyboard.type("junk, pux?")
    page.keyboard.press("Tab")
    quick.get_by_text("Claims, score, correction").click()
    quick.get_by_label("Claims that held").fill("no stale read\n\n  lock is held ")
    quick.get_by_label("Score").fill("0.5")
    page.keyboard.press("Enter")
    assert verdicts_of(server, panel) == []
    quick.get_by_role("button", name="Useful: quick", exact=True).click()
    expect(quick).to_contain_text("Useful, score 0.5")
    assert verdicts_of(server, panel) == [("member2", 1, "junk, pux?", '["no stale read", "lock is held"]')]
    quick.get_by_text("Claims, score, correction").click()
    quick.get_by_label("Score").fill("2")
    quick.get_by_role("button", name="Not useful").click()
    expect(quick.get_by_role("alert")).to_contain_text("score")
    assert len(verdicts_of(server, panel)) == 1


def test_keys_can_be_turned_off(page: Page, server: RunningServer) -> None:
    page.goto(path_of(server, ask(server, "core")))
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Turn these keys off").check()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("n")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("[data-seat]:focus")).to_have_count(0)


def test_an_answer_is_copied_as_it_was_written(page: Page, server: RunningServer) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.base_url)
    page.goto(path_of(server, ask(server, "core")))
    echo = page.locator("[data-seat=member1]")
    echo.get_by_role("button", name="Copy").click()
    expect(echo.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == PROMPT


def test_names_are_hidden_until_each_is_judged(page: Page, server: RunningServer) -> None:
    panel = ask(server, "core")
    page.goto(path_of(server, panel))
    page.get_by_role("link", name="Hide names").click()
    body = page.locator(".panel-page")
    shown = body.inner_text()
    names = ("echo", "quick", "thinking", "failing", "silent", "member1", "member2")
    assert not [name for name in names if name in shown]
    order = page.eval_on_selector_all("[data-seat]", "(all) => all.map((one) => one.id)")
    page.reload()
    assert page.eval_on_selector_all("[data-seat]", "(all) => all.map((one) => one.id)") == order
    quick = page.locator("[data-seat]", has_text="No stale read here.")
    quick.get_by_role("button", name="Useful: Answer", exact=False).first.click()
    expect(quick).to_contain_text("member2")
    expect(body).not_to_contain_text("thinking ok")
    for seat in ("Is there a race", "42"):
        one = page.locator("[data-seat]", has_text=seat).first
        one.get_by_role("button", name="Not useful").click()
        expect(one).to_contain_text("Not useful by local")
    expect(page.locator("[data-seat]", has_text="overloaded")).to_contain_text("failing")


def test_it_works_without_scripts(plain_page: Page, server: RunningServer) -> None:
    page, panel = plain_page, ask(server, "core", "A rare word: zyzzyva.")
    page.goto(LIST)
    page.get_by_role("searchbox", name="Search").fill("zyzzyva")
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody").get_by_role("link").click()
    quick = page.locator("[data-seat=member2]")
    quick.get_by_label("Note on quick").fill("fine")
    quick.get_by_role("button", name="Useful: quick", exact=True).click()
    expect(page.locator("body")).to_contain_text("quick judged useful.")
    expect(quick).to_contain_text("Useful by local")
    assert verdicts_of(server, panel) == [("member2", 1, "fine", "[]")]
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)


def test_a_link_in_a_reply_judges_once(page: Page, plain_page: Page, server: RunningServer, screenshots: Path) -> None:
    reply = server.chat("bench/linked").json
    links = re.findall(r"\((http[^)]*/verdict/[^)]*)\)", reply["choices"][0]["message"]["content"])
    for shown, link, word in ((page, links[0], "useful"), (plain_page, links[1], "not useful")):
        shown.goto(link)
        shown.screenshot(path=screenshots / f"panels-link-{word.replace(' ', '-')}.png")
        shown.get_by_role("button", name=f"Yes, it was {word}").click()
        expect(shown.get_by_role("heading")).to_have_text("Saved")
    assert [useful for _, useful, *_ in verdicts_of(server, reply["bench"]["panel"])] == [1, 0]


def test_the_worst_answers_stay_in_their_boxes(page: Page, server: RunningServer) -> None:
    items = "\n".join(f"- item {number}" for number in range(10_000))
    for prompt in (hostile.TEXT, items, "x" * 1_000_000, hostile.TEXT * 500):
        page.goto(path_of(server, ask(server, "core", prompt)))
        assert page.evaluate("window.__pwned ?? null") is None
        assert page.evaluate("document.querySelectorAll('*').length") < 12_000
        assert page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
        expect(page.locator("[data-seat=member2]")).to_contain_text("No stale read here.")
    assert page.locator(".panel-page a[href^='javascript:' i], .panel-page iframe, .panel-page img").count() == 0


def test_pages_fit_and_look_alike_wide_and_narrow_light_and_dark(
    faultless: Faultless, server: RunningServer, screenshots: Path
) -> None:
    panel = ask(server, "core")
    for seat, useful in (("member1", True), ("member2", False)):
        body = {"call": f"{panel}.{seat}", "useful": useful, "note": "It names the lock.", "real": ["the lock is taken twice"]}
        assert server.request("POST", "/bench/verdict", body).status == 200
    asking = threading.Thread(target=ask, args=(server, "live"))
    pages = {
        "list": LIST,
        "list-nothing": f"{LIST}?q=no-such-word",
        "panel": path_of(server, panel),
        "panel-blind": f"{LIST}{server.rows('SELECT max(id) FROM evidence_panel')[0][0]}/change/?blind=1",
        "seat": f"{LIST}{server.rows('SELECT max(id) FROM evidence_panel')[0][0]}/seat/member1/",
    }
    asking.start()
    for width, scheme in LOOKS:
        with faultless(server, viewport={"width": width, "height": 900}, color_scheme=scheme) as shown:
            for name, path in pages.items():
                shown.goto(path)
                wider = shown.evaluate("document.scrollingElement.scrollWidth - innerWidth")
                assert wider <= 0, (name, width, wider)
                shown.screenshot(path=screenshots / f"panels-{name}.{width}.{scheme}.png", full_page=True)
    asking.join()
