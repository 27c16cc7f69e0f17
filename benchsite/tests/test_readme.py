"""The README is true: its tree is the tree, its table is what settings.py reads. Its commands are run by test_docs.py."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from benchsite.tests import readme

ROOT: Path = settings.BASE_DIR


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)`|^make ([a-z]+)$", readme.TEXT, re.MULTILINE))
    assert {first or second for first, second in named} == targets


def test_the_tree_has_every_module_of_the_gateway_and_nothing_else() -> None:
    told = [path for path in readme.tree() if path.startswith("gateway/") and path.endswith(".py")]
    there = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "gateway").rglob("*.py")
        if not {"tests", "migrations"} & set(path.parts) and path.name not in ("__init__.py", "apps.py")
    ]
    assert sorted(told) == sorted(there)


def test_whatever_a_tree_names_is_there() -> None:
    assert [path for path in readme.tree(readme.TEXT) if not (ROOT / path).exists()] == []
    told = readme.tree()
    assert {"benchsite/settings.py", "gateway/upstream/sockets/clock.py", "collections_app/secret_file.py"} <= set(told)
    assert [path for path in told if not (ROOT / path).exists()] == []
    assert sorted(set(told)) == sorted(told)


@pytest.mark.parametrize("app", ["benchsite", "collections_app"])
def test_the_tree_leaves_nothing_out_at_the_top_of_an_app_that_it_lists(app: str) -> None:
    unsaid = {"__init__.py", "apps.py", "tests", "migrations"}
    code = [path for path in (ROOT / app).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    assert {f"{app}/{path.name}" for path in code if path.name not in unsaid} - set(readme.tree()) == set()


def test_every_environment_variable_is_told_alike_in_three_places() -> None:
    done = subprocess.run([sys.executable, ".ci/check_environment.py"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_its_pictures_are_there_in_both_themes_and_a_clone_can_bear_them() -> None:
    named = re.findall(r'(?:src|srcset)="([^"]+)"', readme.TEXT)
    assert len(named) == 6
    assert {name for name in named if not (ROOT / name).is_file()} == set()
    taken = list((ROOT / "docs" / "screenshots").glob("*"))
    assert sum(path.stat().st_size for path in taken) < 4_000_000
    assert {path.name.replace("-light.", "-dark.") for path in taken} == {
        path.name for path in taken if path.name.endswith("-dark.webp")
    }
