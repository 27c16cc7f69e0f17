"""docs/clients.md names the versions that are tried: those pinned for the suite and for `make sdks`.

What it shows is run with the other documents, in test_docs.py and .ci/sdks/test_docs.py.
"""

import json
import re
import tomllib

from django.conf import settings

PAGE = (settings.BASE_DIR / "docs" / "clients.md").read_text()
PROJECT = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())
LANGUAGES = ("openai", "anthropic", "google-genai", "ollama")


def pinned(requirements):
    return dict(line.split("==") for line in requirements)


def tried_with():
    """The last column of the table at the top, by client."""
    return dict(re.findall(r"^\| \[([^]]+)\]\(#[\w-]+\) \|.*\| ([^|]+) \|$", PAGE, re.MULTILINE))


def test_python_sdks_have_this_generation_and_the_one_before():
    today = pinned(PROJECT["project"]["optional-dependencies"]["dev"])
    before = pinned(PROJECT["dependency-groups"]["sdks"])
    tried = tried_with().values()
    assert [name for name in LANGUAGES if f"{name} {today[name]}, {before[name]}" not in tried] == []


def test_javascript_sdks_and_llm_have_what_make_sdks_installs():
    sdks = json.loads((settings.BASE_DIR / ".ci" / "sdks" / "js" / "package.json").read_text())["dependencies"]
    wanted = sdks | pinned(PROJECT["dependency-groups"]["llm"])
    tried = tried_with().values()
    assert wanted
    assert [name for name, version in wanted.items() if f"{name} {version}" not in tried] == []


def test_every_client_of_the_table_has_a_guide():
    headings = set(re.findall(r"^## (.+)$", PAGE, re.MULTILINE))
    assert len(tried_with()) > 12
    assert set(tried_with()) - headings == set()
