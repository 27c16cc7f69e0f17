"""What is known and how models do, in a browser: by keyboard, without JavaScript, in both themes, wide and on a phone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import LINE
from playwright.sync_api import Browser, Page, expect

from conftest import Faultless
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

MODELS = {"fast": {"model": "say-fast", "context_window": 4096}, "gone": {"model": "say-gone"}}
PAGES = (
    "alert/",
    "cooldown/",
    "catalogsource/?source=openrouter",
    "languagemodel/",
    "languagemodel/1/change/",
    "endpoint/1/change/",
)
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
# What the bench itself would have written down, with the worst that others can have it say.
SEED = f"""
from datetime import timedelta
from django.utils import timezone
from collections_app.models import Alert, CatalogSource, Doubt, Endpoint, Fact
from collections_app.services.alerts import raise_alert
from collections_app.services.cooling import cool_down
from collections_app.services.retirement import retire
worst, now, there = {LINE[:200]!r}, timezone.now(), Endpoint.objects.get()
for field, value in (("context_window", 2048), ("retires", worst), ("requests_per_day", 50)):
    known = dict(endpoint=there, known_since=now, note=worst)
    Fact.objects.create(served_id="say-fast", field=field, source="learned", value=value, **known)
Fact.objects.create(served_id="*", field="requests_per_minute", source="freellmapi", value=20, **known)
cool_down(there.pk, "say-fast", at=now, until=now + timedelta(hours=1), why=worst)
Doubt.objects.create(endpoint=there, served_id="say-fast", request="p20260822-101500-ab12", at=now, said=worst)
retire(there.pk, "say-gone", why=worst)
raise_alert("went_paid", there, "say-fast", message=worst, to_do=worst)
CatalogSource.objects.create(name="openrouter", url=worst, entries=342, checked_at=now, error=worst, report=[worst] * 3)
"""


@pytest.fixture(scope="module")
def server(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(
        tmp_path_factory.mktemp("knowledge"), bench_file(upstream.url, MODELS, {"pair": list(MODELS)})
    ) as running:
        seeded = running.manage("shell", "-v", "0", "-c", SEED)
        assert seeded.returncode == 0, seeded.stderr
        yield running


@pytest.fixture
def page(faultless: Faultless, server: RunningServer) -> Iterator[Page]:
    """A page on which nothing may fail."""
    with faultless(server, viewport={"width": 1280, "height": 1000}, color_scheme="light") as page:
        yield page


def test_every_page_fits_and_runs_nothing_of_what_others_wrote(page: Page, screenshots: Path) -> None:
    for path in PAGES:
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            reply = page.goto(f"/admin/collections_app/{path}")
            assert reply and reply.status == 200, path
            assert page.evaluate("window.__pwned ?? null") is None, path
            assert page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0, (path, width)
            name = re.sub(r"\W+", "-", path).strip("-")
            page.screenshot(path=screenshots / f"known-{name}.{width}.{scheme}.png", full_page=True)


def test_return_in_a_field_saves_the_form_and_presses_none_of_its_buttons(page: Page, server: RunningServer) -> None:
    page.goto("/admin/collections_app/languagemodel/1/change/")
    page.fill("input[name=output_limit]", "512")
    page.press("input[name=output_limit]", "Enter")
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert server.rows("SELECT context_window, output_limit FROM collections_app_languagemodel WHERE alias = 'fast'") == [
        (4096, 512)
    ]


def test_an_override_is_cleared_and_what_was_learned_forgotten_by_keyboard(page: Page, server: RunningServer) -> None:
    page.goto("/admin/collections_app/languagemodel/1/change/")
    page.get_by_role("button", name="Forget what was learned: Requests a day").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Requests a day: what was learned is forgotten")).to_be_visible()
    page.get_by_role("button", name="Clear what is set: Context window").focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("Context window is as the sources have it.")).to_be_visible()
    assert server.rows("SELECT context_window FROM collections_app_languagemodel WHERE alias = 'fast'") == [(None,)]
    assert server.rows("SELECT count(*) FROM collections_app_fact WHERE field = 'requests_per_day'") == [(0,)]


def test_alerts_cool_downs_and_retirement_are_ended_without_javascript(browser: Browser, server: RunningServer) -> None:
    context = browser.new_context(base_url=server.base_url, java_script_enabled=False)
    context.set_default_timeout(20_000)
    page = context.new_page()
    for path, button, said in (
        ("alert/", "Resolve", "Resolved: "),
        ("cooldown/", "End now: the rest of say-fast", "say-fast may be asked again"),
        ("languagemodel/2/change/", "Restore", "gone is active again"),
    ):
        page.goto(f"/admin/collections_app/{path}")
        page.get_by_role("button", name=button, exact=True).first.click()
        expect(page.get_by_text(said)).to_be_visible()
    context.close()
