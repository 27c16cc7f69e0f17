"""A real Chromium, and servers for it to meet: one as installed, one that asks for keys, one that asks who is there."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from sites import EVIL, HERE, PLAIN, Site

from gateway.tests.bench_file import bench_file
from gateway.tests.conftest import upstream  # noqa: F401 - a fixture
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SCREENSHOTS = HERE / "screenshots"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {EVIL} 127.0.0.1, MAP {PLAIN} 127.0.0.1",
)
Faultless = Callable[..., AbstractContextManager[Page]]
MODELS = {"fast": {"model": "say-No-stale-read."}, "slow": {"model": "slow-1.5"}}
COLLECTIONS = {"pair": ["fast", "slow"], "one": ["fast"]}


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium with a profile that nobody has used; proxies of the environment are none of its."""
    profile = tmp_path_factory.mktemp("profile")
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=FLAGS, env=environment | {"HOME": str(profile)}
        )
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser as a person has it who has been nowhere yet."""
    fresh = browser.new_context()
    fresh.set_default_timeout(20_000)
    yield fresh
    fresh.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@contextmanager
def faultless_page(browser: Browser, server: RunningServer, **how: Any) -> Iterator[Page]:
    """A page of the server's in a browser of its own, on which nothing may fail until it is left, nor on one that it opens."""
    context = browser.new_context(base_url=server.base_url, **{"viewport": {"width": 1280, "height": 900}, **how})
    context.set_default_timeout(20_000)
    faults: list[str] = []

    def watch(page: Page) -> None:
        page.on("console", lambda said: said.type in ("error", "warning") and faults.append(said.text))
        page.on("pageerror", lambda error: faults.append(str(error)))

    context.on("page", watch)
    yield context.new_page()
    context.close()
    assert faults == []


@pytest.fixture(scope="session")
def faultless(browser: Browser) -> Faultless:
    """`with faultless(server, color_scheme="dark") as page`, with what a new context takes."""
    return partial(faultless_page, browser)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.fixture(scope="session")
def app(site: Site) -> Iterator[str]:
    """The origin of the pages that the servers below let in."""
    with Site() as running:
        yield running.origin("localhost")


def bench(upstream: FakeUpstream) -> str:  # noqa: F811
    return bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"


@pytest.fixture(scope="session")
def as_installed(upstream: FakeUpstream, app: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:  # noqa: F811
    """No keys, no token: nothing but where a request comes from protects it. It is also called by a name, over plain http."""
    server = RunningServer(tmp_path_factory.mktemp("installed"))
    server.environment = {"BENCH_ALLOWED_ORIGINS": app, "BENCH_ALLOWED_HOSTS": f"{PLAIN}:{server.port}"}
    server.load(bench(upstream))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def keyed(upstream: FakeUpstream, app: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:  # noqa: F811
    folder = tmp_path_factory.mktemp("keyed")
    with running_server(folder, bench(upstream), BENCH_ALLOWED_ORIGINS=app, BENCHWARMERS_REQUIRE_KEYS="1") as server:
        yield server


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """An empty folder for what the pages look like; it stays."""
    shutil.rmtree(SCREENSHOTS, ignore_errors=True)
    SCREENSHOTS.mkdir()
    return SCREENSHOTS
