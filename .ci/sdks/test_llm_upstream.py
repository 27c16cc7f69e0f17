"""The real `llm` command as an upstream: what the stand-in of gateway/tests/test_upstream_llm_cli.py stands in for.

Its models are the fake upstream's, which it knows by its own file of OpenAI-compatible models.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.conftest import upstream  # noqa: F401 - a fixture
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

BIN = Path(__file__).parents[2] / ".venv" / "sdks" / "llm" / "bin"
SERVED = ("say-one", "say-two", "say-three", "say-four", "think-tags", "err-401", "nowhere")


@pytest.fixture(scope="module")
def folder(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    """A folder of llm's that no llm has used yet, and that knows all of the models but one."""
    folder = tmp_path_factory.mktemp("llm")
    common = {"api_base": upstream.url, "api_key_name": "fake"}
    known = [{"model_id": name, "model_name": name, **common} for name in SERVED if name != "nowhere"]
    # JSON is YAML.
    (folder / "extra-openai-models.yaml").write_text(json.dumps(known))
    (folder / "keys.json").write_text('{"fake": "local"}')
    return folder


def bench(protocol: str, base_url: str) -> str:
    models = {name: {"model": name} for name in SERVED}
    collections = {"four": SERVED[:4], "thinking": ["think-tags"], "failing": ["err-401", "nowhere"]}
    text = bench_file(base_url, models, collections) + "\n[limits]\nmax_explorers = 0\n"
    return text.replace('protocol = "openai_chat"', f'protocol = "{protocol}"')


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "LLM_USER_PATH": str(folder)}
    with running_server(tmp_path_factory.mktemp("cli"), bench("llm_cli", "http://127.0.0.1:9"), **environment) as running:
        yield running


def seats(server: RunningServer, collection: str) -> list[dict[str, Any]]:
    seats = server.chat(f"bench/{collection}").json["bench"]["seats"]
    assert isinstance(seats, list)
    return seats


def test_four_at_once_answer_though_none_has_run_in_its_folder_before(server: RunningServer) -> None:
    told = [(seat["status"], seat["answer"], seat["usage"]) for seat in seats(server, "four")]
    assert told == [("ok", f"{word} ", {"input": 7, "output": 5}) for word in ("one", "two", "three", "four")]


def test_no_prompt_is_left_in_its_folder(server: RunningServer, folder: Path) -> None:
    server.chat("bench/four", "A prompt to be found by.")
    assert not [path for path in folder.rglob("*") if path.is_file() and b"to be found by" in path.read_bytes()]


def test_reasoning_is_no_part_of_the_answer(server: RunningServer) -> None:
    seat = seats(server, "thinking")[0]
    assert seat["answer"] == "The answer is 42."
    assert server.rows("SELECT reasoning FROM evidence_call WHERE alias = 'think-tags'") == [("Six times seven.",)]


def test_failures_are_told_and_classified(server: RunningServer) -> None:
    answer = server.chat("bench/failing")
    assert answer.status == 502
    told = {seat["alias"]: (seat["error_kind"], seat["error"]) for seat in answer.json["bench"]["seats"]}
    assert told["err-401"] == ("unauthorized", "llm: Incorrect API key provided")
    assert told["nowhere"] == ("not_found", "llm: 'Unknown model: nowhere'")


def test_by_choice_it_stands_in_for_the_built_in_client(folder: Path, tmp_path: Path) -> None:
    environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "LLM_USER_PATH": str(folder), "BENCH_CLIENT": "llm"}
    with running_server(tmp_path, bench("openai_chat", "http://127.0.0.1:9/v1"), **environment) as server:
        assert [seat["status"] for seat in seats(server, "four")] == ["ok"] * 4
