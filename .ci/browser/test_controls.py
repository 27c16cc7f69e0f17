"""What the dashboard's pages do when they are used: the theme's own controls, under a policy that it was not made for."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import Faultless
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

MODELS = {name: {"model": f"say-{name}"} for name in ("first", "second", "third", "fourth")}


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    bench = bench_file(upstream.url, MODELS, {"trio": ["first", "second", "third"]})
    with running_server(tmp_path_factory.mktemp("controls"), bench) as running:
        yield running


@pytest.fixture
def page(faultless: Faultless, server: RunningServer) -> Iterator[Page]:
    """A page on which nothing may fail, in the server's own dashboard."""
    with faultless(server, viewport={"width": 1280, "height": 1000}, color_scheme="light") as page:
        yield page


def test_members_are_added_moved_and_removed_and_the_sum_follows(page: Page) -> None:
    page.goto("/admin/collections_app/collection/1/change/")
    seats, save = page.locator("[data-bench-sum]"), page.get_by_role("button", name="Save and continue editing")
    expect(seats).to_have_text("3 members + 2 explorers = 5 seats")
    preview = page.locator("[data-bench-preview]")
    expect(preview).to_contain_text("Would explore next on general: fourth")
    page.locator("#memberships-group").get_by_text("Add another").click()
    page.locator("#memberships-group .select2-selection").last.click()
    page.locator(".select2-results__option", has_text="fourth").click()
    expect(seats).to_have_text("4 members + 1 explorer = 5 seats")
    expect(preview).to_contain_text("nobody: no other model may")
    drag_first_below_third(page)
    assert members(page) == ["second", "third", "first", "fourth"]
    with page.expect_navigation():
        save.click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert members(page) == ["second", "third", "first", "fourth"]
    page.locator("input[name=memberships-3-DELETE]").evaluate("(box) => box.click()")
    expect(seats).to_have_text("3 members + 2 explorers = 5 seats")
    with page.expect_navigation():
        save.click()
    expect(page.locator("[name=memberships-3-id]")).to_have_count(0)
    assert members(page) == ["second", "third", "first"]


def test_members_are_numbered_added_and_removed_by_keyboard(page: Page) -> None:
    page.goto("/admin/collections_app/collection/1/change/")
    before = members(page)
    page.get_by_label("Place").nth(0).fill("9")
    page.get_by_role("checkbox", name="Remove").nth(1).press("Space")
    page.get_by_role("link", name="Add another Member").press("Enter")
    boxes = page.locator("#memberships-group").get_by_role("combobox", name="Model")
    expect(boxes).to_have_count(len(before) + 1)
    boxes.last.press("Enter")
    page.keyboard.type("four")
    expect(page.locator(".select2-results__option--highlighted")).to_have_text("fourth")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add or change").first.press("Enter")
    expect(page.get_by_role("link", name="Add another shape")).to_be_focused()
    with page.expect_navigation():
        page.get_by_role("button", name="Save and continue editing").press("Enter")
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert members(page) == [before[2], before[0], "fourth"]


def drag_first_below_third(page: Page) -> None:
    """Held until the rows have moved: a row that is still gliding into its place takes no other in meanwhile."""
    handles = page.locator("[x-sort\\:handle]:visible")
    start, end = handles.nth(0).bounding_box(), handles.nth(2).bounding_box()
    assert start and end
    page.mouse.move(start["x"] + 5, start["y"] + 5)
    page.mouse.down()
    for nudge in range(60):
        page.mouse.move(end["x"] + 5, end["y"] + end["height"] + nudge % 8, steps=20 if nudge == 0 else 1)
        if members(page)[2] == "first":
            break
        page.wait_for_timeout(50)
    page.mouse.up()


def members(page: Page) -> list[str]:
    """The chosen models in the order of the page, the empty row apart."""
    choices = "(all) => all.filter((one) => one.value).map((one) => one.selectedOptions[0].text.split(/[ (]/)[0])"
    return list(page.eval_on_selector_all("select[name^=memberships-][name$=-language_model]", choices))


def test_a_theme_and_a_hidden_sidebar_are_remembered(page: Page) -> None:
    page.goto("/admin/")
    page.get_by_text("local", exact=True).click()
    page.locator("[x-on\\:click=\"switchTheme('dark')\"]").click()
    page.locator("[x-on\\:click^='sidebarDesktopOpen']:visible").first.click()
    expect(page.locator("#nav-sidebar")).to_be_hidden()
    page.reload()
    expect(page.locator("html.dark")).to_have_count(1)
    expect(page.locator("#nav-sidebar")).to_be_hidden()


def test_a_theme_takes_effect_at_once_and_the_systems_is_followed_where_none_is_chosen(page: Page) -> None:
    page.goto("/admin/")
    html = page.locator("html")
    page.get_by_role("button", name="local").click()
    for choice, dark in (("Dark", True), ("Light", False), ("Dark", True), ("System", False)):
        page.get_by_role("button", name=choice, exact=True).click()
        expect(page.get_by_role("button", name=choice, exact=True)).to_have_attribute("aria-pressed", "true")
        assert html.evaluate("(html) => html.classList.contains('dark')") is dark, choice
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html.dark")).to_have_count(1)


def test_the_frame_is_used_by_keyboard(page: Page) -> None:
    page.goto("/admin/collections_app/collection/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#content') !== null")
    page.get_by_role("button", name="Navigation").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#nav-sidebar")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("#nav-sidebar")).to_be_visible()
    page.get_by_role("button", name="Search pages…").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[x-ref=searchInputCommand]")).to_be_focused()


def test_every_kind_of_page_is_seen_and_left_without_scripts(browser: Browser, server: RunningServer) -> None:
    for width in (1280, 390):
        context = browser.new_context(
            base_url=server.base_url, viewport={"width": width, "height": 900}, java_script_enabled=False
        )
        shown = context.new_page()
        shown.goto("/admin/")
        shown.get_by_role("navigation", name="Dashboard").get_by_role("link", name="Models", exact=True).click()
        expect(shown.get_by_role("link", name="first", exact=True)).to_be_visible()
        shown.get_by_role("link", name="ad hoc: sits when named, never explores").click()
        expect(shown.get_by_text("Nothing fits")).to_be_visible()
        expect(shown.get_by_role("button", name="Log out")).to_be_visible()
        context.close()


def test_a_page_is_found_by_its_name_and_nothing_is_by_none(page: Page) -> None:
    page.goto("/admin/")
    page.keyboard.press("Control+k")
    field = page.locator("[x-ref=searchInputCommand]")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    field.press_sequentially("panel")
    expect(page.locator("#command-results-list li")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/evidence/panel/")


def test_a_list_is_filtered_and_acted_upon(page: Page) -> None:
    page.goto("/admin/collections_app/languagemodel/")
    page.locator("[x-on\\:click='filterOpen = true']").first.click()
    expect(page.locator("#changelist-filter")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#changelist-filter")).to_be_hidden()
    page.locator("input[name=_selected_action]").first.check()
    page.locator("select[name=action]").select_option(index=1)
    page.locator("#changelist-actions button:visible").last.click()
    expect(page).to_have_title("Cannot delete model | Benchsite")


def test_a_related_row_is_made_in_a_window_of_its_own(page: Page) -> None:
    page.goto("/admin/collections_app/languagemodel/add/")
    page.locator("[x-on\\:click*='openRelatedWidgetWrapper']").first.click()
    with page.expect_popup() as opened:
        page.locator("a.related-widget-wrapper-link.add-related:visible").first.click()
    popup = opened.value
    popup.fill("input[name=name]", "elsewhere")
    popup.fill("input[name=base_url]", "http://127.0.0.1:9/v1")
    with popup.expect_event("close"):
        popup.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("select[name=endpoint] option:checked")).to_have_text("elsewhere")
