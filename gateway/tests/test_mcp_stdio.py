"""python manage.py mcp: what a client's configuration starts, with a bench and without one."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

from django.conf import settings
from mcp import Client, StdioServerParameters

from gateway.tests.mcp_client import text
from gateway.tests.running_server import free_port

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}},
}


def environment(folder, **said):
    own = {"BENCH_DATA_DIR": str(folder / "agent"), "BENCHWARMERS_URL": f"http://127.0.0.1:{free_port()}"}
    return os.environ | {"DJANGO_SETTINGS_MODULE": "benchsite.settings"} | own | said


@contextmanager
def agent(folder, **said):
    """The command as a client starts it. A client that closes standard input wants no answers any more, so these wait first."""
    command = [sys.executable, "manage.py", "mcp"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment(folder, **said), text=True, **pipes) as started:
        try:
            yield started
        finally:
            started.kill()


def send(started, *lines):
    started.stdin.write("".join(f"{line}\n" for line in lines))
    started.stdin.flush()


def answer(started, number):
    """The answer to a call, and every line that came before it."""
    before = []
    for line in started.stdout:
        said = json.loads(line)
        if said.get("id") == number:
            return said, before
        before.append(said)
    raise AssertionError(f"no answer to {number}: {started.stderr.read()}")


def test_without_a_bench_each_call_says_how_to_start_one(tmp_path):
    async def story():
        own = environment(tmp_path)
        started = StdioServerParameters(command=sys.executable, args=["manage.py", "mcp"], env=own, cwd=str(settings.BASE_DIR))
        async with Client(started) as client:
            assert len((await client.list_tools()).tools) == 5
            refused = await client.call_tool("list_collections", {})
            assert refused.is_error
            for said in (own["BENCHWARMERS_URL"], "does not answer", "make run", "BENCHWARMERS_URL"):
                assert said in text(refused)
            asked = await client.call_tool("ask", {"collection": "core", "prompt": "Hi"})
            assert asked.is_error and "make run" in text(asked)

    asyncio.run(story())


def test_standard_output_carries_the_protocol_alone(tmp_path):
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with agent(tmp_path) as started:
        send(started, json.dumps(HELLO), json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        answer(started, 1)
        send(started, "no JSON", json.dumps(listing))
        listed, before = answer(started, 2)
        assert len(listed["result"]["tools"]) == 5
        assert all(said["jsonrpc"] == "2.0" for said in before)
        rest, complaints = started.communicate(timeout=30)
        assert started.returncode == 0, complaints
    assert rest == "" and "Traceback" not in complaints
    assert not list(tmp_path.rglob("*.sqlite3")), "it has no use for a database"


def test_settings_that_a_server_would_refuse_stop_no_agent(tmp_path):
    with agent(tmp_path, BENCH_BIND="0.0.0.0") as started:
        send(started, json.dumps(HELLO))
        said, _ = answer(started, 1)
        assert said["result"]["serverInfo"]["name"] == "benchsite"
        _, complaints = started.communicate(timeout=30)
        assert started.returncode == 0, complaints


def test_what_is_no_address_and_no_key_is_an_answer_without_its_secrets(tmp_path):
    async def story(said, **named):
        own = environment(tmp_path, **named)
        started = StdioServerParameters(command=sys.executable, args=["manage.py", "mcp"], env=own, cwd=str(settings.BASE_DIR))
        async with Client(started) as client:
            refused = await client.call_tool("list_collections", {})
            assert refused.is_error and said in text(refused) and "s3cret" not in text(refused)

    asyncio.run(story("BENCHWARMERS_KEY", BENCHWARMERS_KEY="s3cret\nb"))
    asyncio.run(story("user or password", BENCHWARMERS_URL="http://me:s3cret@127.0.0.1:1"))


def test_ctrl_c_ends_it_though_nothing_comes_in(tmp_path):
    with agent(tmp_path) as started:
        send(started, json.dumps(HELLO))
        answer(started, 1)
        started.send_signal(signal.SIGINT)
        assert started.wait(10) == -signal.SIGINT


def test_its_help_has_an_example(tmp_path):
    command = [sys.executable, "manage.py", "mcp", "--help"]
    done = subprocess.run(command, check=True, cwd=settings.BASE_DIR, env=environment(tmp_path), capture_output=True, text=True)
    assert "BENCHWARMERS_URL=http" in done.stdout and '"mcpServers"' in done.stdout
