"""Discover and Onboarding in a real browser: with all that catalogs list, by keyboard, without scripts, wide and narrow."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from collections_app.tests.listed import SNAPSHOTS
from collections_app.tests.places import Places, sending
from conftest import Faultless
from gateway.tests.running_server import RunningServer

LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
DISCOVER = "/admin/collections_app/catalogentry/discover/"
ONBOARDING = "/admin/collections_app/catalogentry/onboarding/"
TAKE_IN = "from collections_app.tests.listed import take_in_snapshots; take_in_snapshots()"


@pytest.fixture(scope="module")
def place() -> Iterator[Places]:
    """A llama.cpp, as far as it is asked here."""
    listing = {"object": "list", "data": [{"id": "small-1b", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}}]}
    answer = {"choices": [{"message": {"content": "ready"}, "finish_reason": "stop"}], "model": "small-1b"}
    with Places() as serving:
        serving.scripts = {
            "/v1/models": sending(json.dumps(listing).encode()),
            "/props": sending(json.dumps({"default_generation_settings": {"n_ctx": 4096}}).encode()),
            "/v1/chat/completions": sending(json.dumps(answer).encode()),
        }
        yield serving


@pytest.fixture(scope="module")
def server(place: Places, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {"GROQ_API_KEY": "gsk_0123456789-not-to-be-seen", "MISTRAL_API_KEY": "also-not-to-be-seen-0123"}
    running = RunningServer(tmp_path_factory.mktemp("adding"), environment=environment)
    running.load('[endpoints.openrouter]\nbase_url = "https://openrouter.ai/api/v1"\nprotocol = "openai_chat"\n')
    if all(path.exists() for path in SNAPSHOTS.values()):
        done = running.manage("shell", "-c", TAKE_IN)
        assert done.returncode == 0, done.stderr
    running.start()
    yield running
    running.stop()


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def page(request: Any, faultless: Faultless, server: RunningServer) -> Iterator[Page]:
    with faultless(server, java_script_enabled=request.param) as page:
        yield page


def test_a_model_is_found_and_added_with_one_click(page: Page) -> None:
    page.goto(DISCOVER)
    expect(page.get_by_role("status")).to_contain_text("models")
    page.fill("input[name=text]", "gpt-oss-20b:free")
    page.press("input[name=text]", "Enter")
    add = page.get_by_role("button", name="Add openai/gpt-oss-20b:free at openrouter")
    if add.count():
        add.focus()
        page.keyboard.press("Enter")
    expect(page.locator("tbody")).to_contain_text("on bench: gpt-oss-20b")


def test_a_local_server_is_found_added_and_tried(page: Page, place: Places) -> None:
    page.goto(ONBOARDING)
    expect(page.locator("body")).to_contain_text("MISTRAL_API_KEY is set")
    assert "not-to-be-seen" not in page.content()
    page.fill("input[name=ports]", place.url.rpartition(":")[2])
    page.press("input[name=ports]", "Enter")
    expect(page.locator("tbody")).to_contain_text("llama.cpp")
    if page.get_by_role("checkbox").count():
        page.get_by_role("button", name="Add the ticked ones").click()
    else:
        page.get_by_role("link", name="Models at").click()
    expect(page.locator("tbody")).to_contain_text("4,096")
    page.get_by_role("checkbox", name="small-1b").check()
    page.get_by_role("button", name="Add and try").click()
    expect(page.locator("tbody")).to_contain_text("answered")
    expect(page.locator("body")).to_contain_text("The trial has ended.")


def test_pages_fit_and_look_alike_wide_and_narrow_light_and_dark(
    faultless: Faultless, server: RunningServer, screenshots: Path
) -> None:
    pages = {
        "discover": DISCOVER,
        "discover-searched": f"{DISCOVER}?text=qwen&free=free&reachable=on",
        "discover-nothing": f"{DISCOVER}?text=no-such-model",
        "onboarding": ONBOARDING,
        "onboarding-provider": f"{ONBOARDING}provider/cloudflare-workers-ai/",
        "onboarding-endpoint": f"{ONBOARDING}endpoint/openrouter/?free=1",
    }
    for width, scheme in LOOKS:
        with faultless(server, viewport={"width": width, "height": 900}, color_scheme=scheme) as shown:
            for name, path in pages.items():
                shown.goto(path)
                wider = shown.evaluate("document.scrollingElement.scrollWidth - innerWidth")
                assert wider <= 0, (name, width, wider)
                shown.screenshot(path=screenshots / f"adding-{name}.{width}.{scheme}.png", full_page="discover" in name)


def test_a_trial_is_seen_as_it_goes(browser: Browser, server: RunningServer, place: Places) -> None:
    """Before the page has come to its end, when the theme's scripts have not run yet; in the theme's colours all the same."""
    ended = threading.Event()
    place.scripts["/v1/models"] = sending(json.dumps({"data": [{"id": "quick"}, {"id": "slow"}]}).encode())
    place.scripts["/v1/chat/completions"] = lambda call: held_back(place, call, ended)
    context = browser.new_context(base_url=server.base_url, color_scheme="dark")
    shown = context.new_page()
    done = server.manage("onboard", "--local", place.url.rpartition(":")[2], "--add", "quick")
    assert done.returncode == 0, done.stderr
    shown.goto(f"{ONBOARDING}endpoint/llama-cpp-{place.url.rpartition(':')[2]}/")
    shown.get_by_role("checkbox", name="quick").check()
    shown.get_by_role("checkbox", name="slow").check()
    shown.get_by_role("button", name="Add and try").click(no_wait_after=True)
    expect(shown.locator("tbody")).to_contain_text("quick")
    expect(shown.locator("html.dark")).to_have_count(1)
    expect(shown.locator("tbody tr")).to_have_count(1)
    assert "The trial has ended." not in shown.content()
    ended.set()
    expect(shown.locator("tbody tr")).to_have_count(2)
    expect(shown.locator("body")).to_contain_text("The trial has ended.")
    context.close()


def held_back(place: Places, call: BaseHTTPRequestHandler, ended: threading.Event) -> None:
    model = json.loads(place.asked[-1][2])["model"]
    if model == "slow":
        ended.wait(20)
    sending(json.dumps({"choices": [{"message": {"content": "ready"}, "finish_reason": "stop"}]}).encode())(call)
