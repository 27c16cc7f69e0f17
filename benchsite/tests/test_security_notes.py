"""SECURITY.md promises nothing that no test is named for, and names none that is not there."""

import re

from django.conf import settings

TEXT = (settings.BASE_DIR / "SECURITY.md").read_text()


def test_every_test_that_it_names_is_there():
    named = set(re.findall(r"`((?:\w|\.ci)[\w./]*/test_\w+\.py)`", TEXT))
    assert len(named) > 15
    assert [path for path in sorted(named) if not (settings.BASE_DIR / path).is_file()] == []


def test_every_protection_names_a_test():
    table = TEXT.partition("## What is protected")[2].partition("## ")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ")][1:]
    assert len(rows) > 8
    assert [row for row in rows if "test_" not in row.split("|")[3]] == []


def test_every_setting_and_check_that_it_names_exists():
    source = "".join(path.read_text() for path in (settings.BASE_DIR / "benchsite").glob("*.py"))
    named = set(re.findall(r"`(BENCH\w+|bench\.[EW]\d+)`", TEXT))
    assert named and {name for name in named if name not in source} == set()
