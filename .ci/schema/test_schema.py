"""Whether /api-schema is true: Schemathesis asks running servers whatever it allows and forbids, and holds each reply to it.

As installed, and where keys are asked for. What is asked, and what is left out and why, is schemathesis.toml's.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from benchsite.api.document import document
from gateway.tests.bench_file import bench_file
from gateway.tests.conftest import upstream  # noqa: F401 - a fixture
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

CONFIG = Path(__file__).with_name("schemathesis.toml")
# The most of each operation, for a quicker look. A key changes nothing but who may ask.
EXAMPLES = int(os.environ.get("EXAMPLES", "500"))
EXAMPLES_WITH_KEYS = 50
SEED = os.environ.get("SEED", "")
LONGEST_SECONDS = 3600
MODELS = {"first": {"model": "say-Yes.", "vision": True}, "second": {"model": "say-No.", "vision": True}}
COLLECTIONS = {"core": ["first"], "pair": ["first", "second"]}
# About as much to ask in each: they run side by side.
PARTS = {"gemini": ["--include-tag", "Gemini"], "the rest": ["--exclude-tag", "Gemini"]}


def test_only_what_is_no_route_of_its_own_is_asked_less() -> None:
    """What the configuration says in regular expressions, as the schema has it."""
    less = [re.compile(one["include-path-regex"]) for one in configured()["operations"] if "generation" in one]
    for path, methods in document()["paths"].items():
        for operation in methods.values():
            expected = "x-alias-of" in operation or operation["summary"] == "Not served"
            assert any(one.search(path) for one in less) is expected, path


@pytest.mark.parametrize("part", PARTS)
def test_the_schema_is_true_as_installed(upstream: FakeUpstream, tmp_path: Path, part: str) -> None:  # noqa: F811
    with running_server(tmp_path, bench(upstream)) as server:
        ask_everything(server, part, EXAMPLES)


@pytest.mark.parametrize("part", PARTS)
def test_the_schema_is_true_where_keys_are_asked_for(upstream: FakeUpstream, tmp_path: Path, part: str) -> None:  # noqa: F811
    with running_server(tmp_path, bench(upstream), BENCHWARMERS_REQUIRE_KEYS="1") as server:
        ask_everything(server, part, EXAMPLES_WITH_KEYS, key=server.manage("create_key", "schema").stdout.strip())


def bench(upstream: FakeUpstream) -> str:  # noqa: F811
    """Models that answer at once, and see; nobody explores, so that whoever is nominated sits already."""
    return bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"


def ask_everything(server: RunningServer, part: str, examples: int, key: str = "") -> None:
    """Fails with what Schemathesis found, and with what broke in the server."""
    config = server.folder / "schemathesis.toml"
    config.write_text(tomli_w.dumps(with_names(configured(min(examples, EXAMPLES)), server, key)))
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)]
    command += ["run", f"{server.base_url}/api-schema", *PARTS[part]]
    ended = subprocess.run(command, cwd=server.folder, timeout=LONGEST_SECONDS, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Traceback" not in server.log


def configured(examples: int = EXAMPLES) -> dict[str, Any]:
    """The configuration, with no more examples of any operation than these."""
    config: dict[str, Any] = tomllib.loads(CONFIG.read_text())
    config["hooks"] = str(CONFIG.with_name(config["hooks"]))
    if SEED:
        config |= {"seed": int(SEED), "generation": {**config["generation"], "deterministic": False}}
    for asked in (config, *config["operations"]):
        if "generation" in asked:
            asked["generation"]["max-examples"] = min(asked["generation"]["max-examples"], examples)
    return config


def with_names(config: dict[str, Any], server: RunningServer, key: str) -> dict[str, Any]:
    """The configuration with what there is on the bench: collections, a panel that has ended, its calls, the key."""
    body = {"model": "bench/pair", "messages": [{"role": "user", "content": "Say anything."}]}
    sent = {"Authorization": f"Bearer {key}"} if key else {}
    panel = server.request("POST", "/v1/chat/completions", body, sent).json["bench"]
    names = {
        "collections": ["bench/core", "pair", "bench/pair:merged", "core:latest"],
        "panels": [panel["panel"]],
        "calls": [seat["call"] for seat in panel["seats"]],
    }
    config["dictionaries"] = {name: {"values": values} for name, values in names.items()}
    if key:
        in_headers = {name: {"api_key": key} for name in ("x-api-key", "x-goog-api-key", "key")}
        config["auth"] = {"openapi": {"bearer": {"bearer": key}, **in_headers}}
        # Wrong keys are for the check of ignored ones to send: what is asked otherwise comes with the right one. What all
        # that says otherwise has been seen as installed.
        config["generation"]["with-security-parameters"] = False
        config["phases"] = {"coverage": {"enabled": False}}
    return config
