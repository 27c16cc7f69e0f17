"""Clients that people already have, against a running server: SDKs of the previous generation for Python, of today's for
JavaScript, and the `llm` command.

Each in an environment of its own, which `make sdks` installs. Today's SDKs for Python are tested with each format.
"""

import base64
import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from gateway.tests.conftest import server, upstream  # noqa: F401 - the fixtures of the front door
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parents[1] / ".venv" / "sdks"
PYTHON = str(ENVIRONMENTS / "previous" / "bin" / "python")
LLM = str(ENVIRONMENTS / "llm" / "bin" / "llm")
EVERY = ("chat", "stream", "image", "refusal", "unknown_model", "listing")
SCRIPTS = {
    **{path.stem: (PYTHON, str(path)) for path in sorted(HERE.glob("python/with_*.py"))},
    **{f"{path.stem}_js": ("node", str(path)) for path in sorted(HERE.glob("js/with_*.mjs"))},
}
Run = Callable[[str], dict[str, str]]


def picture_of(script: str) -> str:
    """A picture that no other script sends, in base64."""
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + script.encode() * 9).decode()


@pytest.fixture(scope="module")
def ended(server: RunningServer) -> Run:  # noqa: F811
    """Runs a script once; returns how each of its checks ended, empty for well."""

    @cache
    def run(script: str) -> dict[str, str]:
        environment = os.environ | {"BASE_URL": server.base_url, "IMAGE": picture_of(script), "NO_PROXY": "127.0.0.1"}
        done = subprocess.run(SCRIPTS[script], env=environment, capture_output=True, text=True, timeout=120, check=False)
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert told, done.stderr
        print(f"\n{script}: {told[0]['version']}")
        return {line["check"]: line.get("failed", "") for line in told[1:]}

    return run


def checks() -> list[tuple[str, str]]:
    """Every check of every script, as their names stand in them, and those that none may be without."""
    return [(script, check) for script, (_, path) in SCRIPTS.items() for check in names_in(Path(path).read_text())]


def names_in(text: str) -> list[str]:
    return [*dict.fromkeys([*EVERY, *re.findall(r"^(?:def|  async) (\w+)\(", text, re.MULTILINE)])]


@pytest.mark.parametrize(("script", "check"), checks())
def test_it_works_unchanged(ended: Run, script: str, check: str) -> None:
    results = ended(script)
    assert check in results, f"{script} has no result for {check}"
    assert not results[check], results[check]


@pytest.mark.parametrize("script", SCRIPTS)
def test_its_picture_reaches_the_model_that_sees_as_it_was(ended: Run, script: str, upstream: FakeUpstream) -> None:  # noqa: F811
    ended(script)
    wanted = f"data:image/png;base64,{picture_of(script)}"
    assert any(wanted in json.dumps(received.body) for received in upstream.requests)


@pytest.fixture(scope="module")
def llm(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:  # noqa: F811
    """The environment of an `llm` that knows a collection of the server's."""
    folder = tmp_path_factory.mktemp("llm")
    model = f"- model_id: pair\n  model_name: bench/pair\n  api_base: {server.base_url}/v1\n"
    (folder / "extra-openai-models.yaml").write_text(model + "  api_key_name: bench\n")
    (folder / "keys.json").write_text('{"bench": "local"}')
    return os.environ | {"LLM_USER_PATH": str(folder), "NO_PROXY": "127.0.0.1"}


def test_the_llm_command_streams_a_panel(llm: dict[str, str]) -> None:
    arrived: list[tuple[float, str]] = []
    with subprocess.Popen(
        [LLM, "-m", "pair", "Say anything."], env=llm, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as asked:
        assert asked.stdout
        while block := os.read(asked.stdout.fileno(), 65_536):
            arrived.append((time.monotonic(), block.decode()))
    text = "".join(piece for _, piece in arrived)
    assert asked.returncode == 0, text
    assert text.index("No stale read.") < text.index("The answer is 42.")
    first = next(moment for moment, piece in arrived if "No stale read." in piece)
    assert arrived[-1][0] - first > 0.1


def test_the_llm_command_is_told_what_there_is(llm: dict[str, str]) -> None:
    folder = Path(llm["LLM_USER_PATH"])
    known = (folder / "extra-openai-models.yaml").read_text()
    (folder / "extra-openai-models.yaml").write_text(known + known.replace("pair", "nowhere"))
    done = subprocess.run([LLM, "-m", "nowhere", "hi"], env=llm, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "bench/pair" in done.stderr
