"""/api-docs: every route, its shapes and a command that can be copied, for whoever comes; nothing from elsewhere."""

import json
import re
import shlex

import pytest
from django.test import Client

from benchsite.api.document import document


@pytest.fixture
def page(client: Client) -> str:
    return client.get("/api-docs").content.decode()


def test_it_shows_every_route_and_every_shape(page: str) -> None:
    written = document()
    for path in written["paths"]:
        assert f"<code>{path}</code>" in page, path
    for name in written["components"]["schemas"]:
        assert page.count(f'id="shape-{name}"') == 1
    anchors = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= anchors


def test_a_command_can_be_copied_into_a_shell(client: Client, page: str) -> None:
    commands = [re.sub(r"&#x27;|&quot;", lambda found: {"&#x27;": "'", "&quot;": '"'}[found[0]], one) for one in copied(page)]
    assert len(commands) > 20
    for command in commands:
        words = shlex.split(command.replace("\\\n", ""))
        assert words[0] == "curl"
        assert words[1].startswith("http://testserver/")
        if "-d" in words:
            json.loads(words[words.index("-d") + 1])


def test_a_key_is_in_the_commands_where_one_is_asked_for(client: Client, page: str, settings) -> None:
    assert "Authorization: Bearer $" not in page
    settings.BENCHWARMERS_REQUIRE_KEYS = True
    asked = client.get("/api-docs").content.decode()
    assert all("Authorization: Bearer $" in one for one in copied(asked) if "/v1" in one or "/bench/" in one)


def test_it_runs_no_script_of_its_own_and_takes_nothing_from_elsewhere(client: Client, page: str) -> None:
    sources = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert all(source.startswith("/") and not source.startswith("//") for source in sources)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
    assert "<style" not in page
    assert " style=" not in page
    assert "script-src 'self'" in client.get("/api-docs").headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_the_dashboard_leads_to_it(client: Client) -> None:
    assert 'href="/api-docs"' in client.get("/admin/").content.decode()


def copied(page: str) -> list[str]:
    return re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)
