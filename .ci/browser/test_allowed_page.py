"""A page of an allowed origin, with the official SDK for JavaScript as it comes from npm: it asks, with a key, and reads."""

import json

import pytest
from playwright.sync_api import Page, expect

from gateway.tests.running_server import RunningServer


@pytest.fixture(scope="module")
def how(keyed: RunningServer) -> dict[str, str]:
    made = keyed.manage("create_key", "app")
    assert made.returncode == 0, made.stderr
    return {"base": keyed.base_url, "key": made.stdout.strip(), "model": "bench/pair"}


@pytest.fixture
def page(page: Page, app: str) -> Page:
    page.goto(f"{app}/app.html")
    page.wait_for_function("window.ready")
    return page


def test_it_shows_sections_as_they_come_and_gets_the_bench_field(page: Page, how: dict[str, str]) -> None:
    page.evaluate("(how) => { window.done = ask(how) }", how)
    answer = page.locator("#answer")
    expect(answer).to_contain_text("No stale read.")
    assert "The answer is 42." not in answer.inner_text()
    page.evaluate("window.done")
    assert "The answer is 42." in answer.inner_text()
    bench = json.loads(page.locator("#bench").inner_text())
    assert [(seat["alias"], seat["status"]) for seat in bench["seats"]] == [("fast", "ok"), ("slow", "ok")]


def test_a_whole_reply_and_the_list_of_models_are_read(page: Page, how: dict[str, str]) -> None:
    assert page.evaluate("(how) => askWhole(how)", how | {"model": "bench/one"})["bench"]["answered"] == 1
    assert {"bench/pair", "bench/one"} <= set(page.evaluate("(how) => listed(how)", how))


def test_the_panels_number_is_among_the_headers_that_it_may_read(page: Page, how: dict[str, str]) -> None:
    headers = page.evaluate("(how) => headersOf(how)", how)
    assert headers["x-bench-panel"].startswith("p")
    assert [seat["alias"] for seat in json.loads(headers["x-bench-seats"])] == ["fast"]


@pytest.mark.parametrize(
    ("changed", "kind", "status", "said"),
    [
        ({"model": "bench/none"}, "NotFoundError", 404, "bench/pair"),
        ({"key": "bwk_" + "x" * 43}, "AuthenticationError", 401, "key"),
        ({"key": "no-key-at-all"}, "AuthenticationError", 401, "key"),
    ],
)
def test_a_refusal_is_an_error_of_its_class(
    page: Page, how: dict[str, str], changed: dict[str, str], kind: str, status: int, said: str
) -> None:
    refused = page.evaluate("(how) => refusal(how)", how | changed)
    assert (refused["kind"], refused["status"]) == (kind, status)
    assert said in refused["message"]


def test_the_same_page_elsewhere_reads_nothing_even_with_the_key(
    page: Page, how: dict[str, str], app: str, keyed: RunningServer
) -> None:
    before = keyed.rows("SELECT count(*) FROM evidence_panel")
    # The allowed origin is localhost's; by its other name the same server of pages is another site.
    page.goto(f"{app.replace('localhost', '127.0.0.1')}/app.html")
    page.wait_for_function("window.ready")
    assert page.evaluate("(how) => refusal(how)", how)["kind"] == "APIConnectionError"
    assert keyed.rows("SELECT count(*) FROM evidence_panel") == before
