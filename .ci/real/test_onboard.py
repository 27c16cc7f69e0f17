"""`onboard --local`, done for real: three llama.cpp servers found, and their models added with the window that answers.

After test_first_panel.py, which installs what these servers run on.
"""

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from collections_app.local.child import free_port, running, server_command
from collections_app.local.install import missing

TOP = Path(__file__).parents[2]
# What a slot has; SmolLM2 was trained for twice as much, and says so too.
WINDOW, TRAINED = 4096, 8192
NAMES = ("smollm2-one", "smollm2-two", "smollm2-three")
READY_SECONDS = 60.0
BENCH = f"""
[collections.trio]
members = {json.dumps(NAMES)}
description = "Three servers of this machine"
"""

pytestmark = pytest.mark.skipif(bool(missing(TOP / "requirements-local.txt")), reason="the local model is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("onboard")
    manage(made, "migrate", "-v", "0")
    return made


@pytest.fixture(scope="module")
def ports(folder: Path) -> Iterator[list[int]]:
    """Three model servers."""
    with ExitStack() as servers:
        found = []
        for name in NAMES:
            port = free_port()
            servers.enter_context(running(server_command(port, name, WINDOW), port, folder=TOP, log=folder / f"{name}.log"))
            found.append(port)
        yield found


def environment(folder: Path, **more: str) -> dict[str, str]:
    return os.environ | {"BENCH_DATA_DIR": str(folder), "BENCH_LOCAL_MODEL": "0"} | more


def manage(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(
        command,
        cwd=TOP,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """The bench itself, on a port of its own."""
    port = free_port()
    with (folder / "serve.log").open("wb") as log:
        bench = subprocess.Popen(
            [sys.executable, "manage.py", "serve"],
            cwd=TOP,
            env=environment(folder, BENCH_PORT=str(port)),
            stdout=log,
            stderr=log,
        )
    try:
        began = time.monotonic()
        while b"serves http" not in (folder / "serve.log").read_bytes():
            assert bench.poll() is None and time.monotonic() - began < READY_SECONDS, (folder / "serve.log").read_text()
            time.sleep(0.05)
        yield port
    finally:
        bench.send_signal(signal.SIGTERM)
        bench.wait(60)


def ask(port: int, prompt: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = {"model": "bench/trio", "messages": [{"role": "user", "content": prompt}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    answered = reply.status, json.loads(reply.read())
    connection.close()
    return answered


def test_three_servers_are_found_their_models_added_with_the_window_that_answers_and_tried(
    folder: Path, ports: list[int]
) -> None:
    said = manage(folder, "onboard", "--local", *map(str, ports))
    print(f"\n{said}")
    assert said.count("llama.cpp at http://127.0.0.1:") == 3
    done = json.loads(manage(folder, "onboard", "--local", *map(str, ports), "--json"))["endpoints"]
    assert [at["models"][0]["id"] for at in done] == list(NAMES)
    assert [at["models"][0]["context_window"] for at in done] == [WINDOW] * 3
    assert [one["outcome"] for at in done for one in at["tried"]] == ["answered"] * 3
    with sqlite3.connect(folder / "bench.sqlite3") as rows:
        told = rows.execute(
            "SELECT DISTINCT context_window, trained_window FROM collections_app_catalogentry WHERE trained_window > 0"
        )
        assert (WINDOW, TRAINED) in told.fetchall()
        facts = rows.execute("SELECT value FROM collections_app_fact WHERE field = 'context_window' AND source = 'endpoint'")
        assert facts.fetchall() == [(str(WINDOW),)] * 3


def test_a_prompt_above_the_window_is_refused_with_whose_word_that_is_and_one_below_is_answered(
    folder: Path, ports: list[int]
) -> None:
    bench = folder / "bench.toml"
    bench.write_text(BENCH)
    manage(folder, "load_bench", str(bench))
    with serving(folder) as port:
        status, refused = ask(port, "stale " * 4000)
        assert status == 413
        assert "takes 4,096 (the endpoint's own listing)" in refused["error"]["message"]
        status, answered = ask(port, "Why does bread rise? One sentence.")
        assert status == 200
        assert {seat["status"] for seat in answered["bench"]["seats"]} == {"ok"}
        print(refused["error"]["message"])
