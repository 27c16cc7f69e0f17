"""What a browser is told about every page of the site, whatever it is."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from unfold.settings import CONFIG_DEFAULTS

pytestmark = pytest.mark.django_db

PAGES = ["/", "/none", "/admin/", "/admin/none/", "/admin/login/", "/admin/auth/user/", "/admin/auth/user/add/"]


def policy_of(client: Client, path: str) -> dict[str, set[str]]:
    directives = client.get(path).headers["Content-Security-Policy"].split("; ")
    return {name: set(sources.split()) for name, _, sources in (directive.partition(" ") for directive in directives)}


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_kept_from_frames_copies_and_guesses(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert {"no-store", "private"} <= set(headers["Cache-Control"].split(", "))


@pytest.mark.parametrize("path", PAGES)
def test_every_page_runs_scripts_of_the_site_alone(client: Client, path: str) -> None:
    policy = policy_of(client, path)
    assert policy["default-src"] == {"'none'"}
    assert policy["frame-ancestors"] == policy["base-uri"] == {"'none'"}
    assert policy["form-action"] == policy["connect-src"] == {"'self'"}
    assert policy["script-src"] == policy["style-src"] == {"'self'"}


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_anything_that_would_be_refused(client: Client, path: str) -> None:
    page = client.get(path, follow=True).content.decode()
    assert not re.findall(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=[\"']|javascript:", page)
    assert "unfold/js/app.js" not in page or page.index("benchsite/strict.js") < page.index("unfold/js/app.js")


def test_the_themes_colours_are_those_that_it_would_write_into_pages() -> None:
    written = {
        f"--color-{name}-{weight}": value
        for name, weights in CONFIG_DEFAULTS["COLORS"].items()
        for weight, value in weights.items()
    }
    sheet = (settings.BASE_DIR / "static/benchsite/theme.css").read_text()
    assert dict(re.findall(r"^    (--[\w-]+): (.+);$", sheet, re.MULTILINE)) == written


def test_alpine_is_the_build_that_makes_no_code_out_of_text() -> None:
    found = finders.find("unfold/js/alpine/alpine.js")
    assert isinstance(found, str)
    assert Path(found).is_relative_to(settings.BASE_DIR / "static")
    script = Path(found).read_text()
    assert not re.search(r"async function\(\)\s*\{\s*\}\)\.constructor|\bnew Function\b|\beval\(", script)
    assert "is prohibited in the CSP build" in script


def test_what_never_changes_may_be_kept(client: Client) -> None:
    headers = client.get("/static/unfold/js/app.js").headers
    assert "no-store" not in headers["Cache-Control"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    # Another site's page cannot try which files there are, to learn what runs here.
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
