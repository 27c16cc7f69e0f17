"""python manage.py mcp: what a client's configuration starts, with a bench and without one."""

import asyncio
import json
import os
import signal
import subprocess
import sys

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


def run(folder, *arguments, sent="", **said):
    command = [sys.executable, "manage.py", "mcp", *arguments]
    return subprocess.run(
        command, check=False, cwd=settings.BASE_DIR, env=environment(folder, **said), input=sent, capture_output=True, text=True
    )


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
    calls = [
        HELLO,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = run(tmp_path, sent="".join(json.dumps(call) + "\n" for call in calls) + "no JSON\n")
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["jsonrpc"] for line in lines} == {"2.0"} and {1, 2} <= {line.get("id") for line in lines}
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.sqlite3")), "it has no use for a database"


def test_settings_that_a_server_would_refuse_stop_no_agent(tmp_path):
    done = run(tmp_path, sent=json.dumps(HELLO) + "\n", BENCH_BIND="0.0.0.0")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "benchsite"


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
    command = [sys.executable, "manage.py", "mcp"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment(tmp_path), **pipes) as serving:
        serving.stdin.write(json.dumps(HELLO).encode() + b"\n")
        serving.stdin.flush()
        assert serving.stdout.readline()
        serving.send_signal(signal.SIGINT)
        try:
            assert serving.wait(10) == -signal.SIGINT
        finally:
            serving.kill()


def test_its_help_has_an_example(tmp_path):
    done = run(tmp_path, "--help")
    assert done.returncode == 0
    assert "BENCHWARMERS_URL=http" in done.stdout and '"mcpServers"' in done.stdout
