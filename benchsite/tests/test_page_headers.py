"""What a browser is told about every page of the site, whatever it is."""

import pytest
from django.test import Client

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
    assert "'unsafe-inline'" not in policy["script-src"]


def test_no_page_of_the_dashboard_may_be_framed_even_by_itself(client: Client) -> None:
    assert "frame-src" not in policy_of(client, "/admin/")


def test_what_never_changes_may_be_kept(client: Client) -> None:
    headers = client.get("/static/unfold/js/app.js").headers
    assert "no-store" not in headers["Cache-Control"]
    assert headers["X-Content-Type-Options"] == "nosniff"
