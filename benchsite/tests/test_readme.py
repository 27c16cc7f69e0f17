"""The README is true: its commands work, its tree is the tree, its table is what settings.py reads."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks.processes import Server
from benchsite.tests import readme
from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import RunningServer, running_server

ROOT: Path = settings.BASE_DIR
needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="no curl on this machine")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose bench/starter answers like the README's, from a provider of the benchmark's."""
    folder = tmp_path_factory.mktemp("readme")
    mock = Server("mock upstream", ["-m", "benchmarks.mock_upstream", "--port", "{port}"], log=folder / "mock.log", env={})
    models = {"smollm2-steady": {"model": "m-1"}, "smollm2-lively": {"model": "m-2"}}
    with (
        mock as upstream,
        running_server(folder, bench_file(f"{upstream.url}/v1", models, {"starter": list(models)})) as bench,
    ):
        yield bench


def run(command: str) -> str:
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_curl
def test_its_first_curl_is_answered_in_two_sections(server: RunningServer) -> None:
    said = readme.sections(run(readme.command("curl -s http://127.0.0.1:8123/v1/chat/completions", server.port)))
    assert said.keys() == {"smollm2-steady", "smollm2-lively"}


@needs_curl
def test_its_verdict_is_taken_both_ways(server: RunningServer) -> None:
    call = server.chat("bench/starter").json["bench"]["seats"][0]["call"]
    example = re.search(r"p\d{8}-\d{6}-[0-9a-f]{4}\.member1", readme.TEXT)
    assert example
    command = readme.command("curl -s http://127.0.0.1:8123/bench/verdict", server.port).replace(example[0], call)
    assert '"written":true' in run(command).replace(" ", "")
    by_command = re.search(r"`\.venv/bin/python manage\.py (verdict .*?)`", readme.TEXT)
    assert by_command
    done = server.manage(*shlex.split(by_command[1].replace(example[0], call)))
    assert done.returncode == 0, done.stderr


def test_its_key_is_made(server: RunningServer) -> None:
    command = readme.command(".venv/bin/python manage.py create_key", server.port).removeprefix(".venv/bin/python manage.py ")
    made = server.manage(*shlex.split(command))
    assert made.stdout.startswith("bwk_"), made.stderr


def test_the_reply_that_it_shows_is_one_of_ours() -> None:
    assert readme.sections(readme.TEXT.replace("```", "")).keys() == {"smollm2-steady", "smollm2-lively"}


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)`|^make ([a-z]+)$", readme.TEXT, re.MULTILINE))
    assert {first or second for first, second in named} == targets


def test_its_tree_has_every_module_of_the_gateway_and_nothing_else() -> None:
    told = [path for path in readme.tree() if path.startswith("gateway/") and path.endswith(".py")]
    there = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "gateway").rglob("*.py")
        if not {"tests", "migrations"} & set(path.parts) and path.name not in ("__init__.py", "apps.py")
    ]
    assert sorted(told) == sorted(there)


def test_whatever_its_tree_names_is_there() -> None:
    told = readme.tree()
    assert {"benchsite/settings.py", "gateway/upstream/sockets/clock.py", "collections_app/secret_file.py"} <= set(told)
    assert [path for path in told if not (ROOT / path).exists()] == []
    assert sorted(set(told)) == sorted(told)


@pytest.mark.parametrize("app", ["benchsite", "collections_app"])
def test_its_tree_leaves_nothing_out_at_the_top_of_an_app_that_it_lists(app: str) -> None:
    unsaid = {"__init__.py", "apps.py", "tests", "migrations"}
    code = [path for path in (ROOT / app).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    assert {f"{app}/{path.name}" for path in code if path.name not in unsaid} - set(readme.tree()) == set()


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", readme.TEXT):
        assert (ROOT / target).exists(), target


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
