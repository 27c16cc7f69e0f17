"""/mcp among the gateway's routes: who may call it, from where, how often; a client that leaves; many at once; no sessions."""

import asyncio
import json
import re
import socket
import time

import pytest
from mcp.shared.exceptions import MCPError

from gateway.tests.bench_file import bench_file
from gateway.tests.mcp_client import COLLECTIONS, EITHER, HTTP, MODELS, STDIO, Progress, text, through
from gateway.tests.running_server import running_server
from gateway.tests.test_keys import bearer, make_key

ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_collections", "arguments": {}}}
PATIENCE = 30.0


@pytest.fixture(scope="module")
def guarded(upstream, tmp_path_factory):
    file = bench_file(upstream.url, MODELS, COLLECTIONS)
    folder = tmp_path_factory.mktemp("guarded-mcp")
    environment = {
        "BENCHWARMERS_REQUIRE_KEYS": "1",
        "BENCH_ALLOWED_ORIGINS": "https://chat.example",
        "BENCH_MAX_BODY_BYTES": "600000",
    }
    with running_server(folder, file, **environment) as server:
        yield server


@pytest.fixture(scope="module")
def keys(guarded):
    return {
        "any": make_key(guarded, "any"),
        "pair": make_key(guarded, "pair", "--collections", "pair"),
        "rated": make_key(guarded, "rated", "--rpm", "2"),
        "strict": make_key(guarded, "strict", "--no-bench-field"),
    }


def post(server, body, headers=None, **raw):
    return server.request("POST", "/mcp", body, ACCEPT | (headers or {}), **raw)


@pytest.mark.parametrize("door", EITHER, ids=str)
def test_a_key_asks_what_it_may_and_sees_nothing_else(guarded, keys, door):
    async def story(client):
        listed = await client.call_tool("list_collections", {})
        assert [row["name"] for row in listed.structured_content["collections"]] == ["bench/pair"]
        asked = await client.call_tool("ask", {"collection": "pair", "prompt": "Hi"})
        assert asked.structured_content["status"] == "done"
        other = await client.call_tool("ask", {"collection": "echoing", "prompt": "Hi"})
        assert other.is_error and "HTTP 403" in text(other) and "bench/pair" in text(other)
        return asked.structured_content

    page = through(door, guarded, story, keys["pair"])
    asked_by = "select asked_by from evidence_panel where panel_id = ?"
    assert guarded.rows(asked_by, page["panel"]) == [("pair",)]

    async def stranger(client):
        read = await client.call_tool("get_panel", {"panel": page["panel"]})
        judged = await client.call_tool("verdict", {"call": page["seats"][0]["call"], "useful": False})
        return text(read), text(judged)

    read, judged = through(door, guarded, stranger, keys["any"])
    assert "another caller" in read and "HTTP 403" in read
    assert "another caller" in judged and "HTTP 403" in judged


def test_a_key_that_wants_no_bench_field_reads_its_panels_all_the_same(guarded, keys):
    async def story(client):
        asked = await client.call_tool("ask", {"collection": "pair", "prompt": "Hi"})
        assert [seat["status"] for seat in asked.structured_content["seats"]] == ["ok", "ok"]

    through(HTTP[0], guarded, story, keys["strict"])


def test_a_full_minute_is_told_with_its_wait(guarded, keys):
    async def story(client):
        asked = [await client.call_tool("ask", {"collection": "pair", "prompt": "Hi"}) for _ in range(3)]
        assert [one.is_error for one in asked] == [False, False, True]
        assert "2 times a minute" in text(asked[2]) and re.search(r"HTTP 429; not again before \d+ s", text(asked[2]))
        assert not (await client.call_tool("get_panel", {"panel": asked[0].structured_content["panel"]})).is_error

    through(HTTP[0], guarded, story, keys["rated"])


@pytest.mark.parametrize("door", HTTP, ids=str)
def test_without_a_key_there_is_no_protocol_and_the_client_reads_why(guarded, door):
    async def story(client):
        await client.list_tools()

    with pytest.raises(MCPError, match="asks for a gateway key, and none was sent"):
        through(door, guarded, story)


def test_without_a_key_a_tool_on_stdio_says_so(guarded):
    async def story(client):
        refused = await client.call_tool("list_collections", {})
        assert refused.is_error and "none was sent" in text(refused) and "BENCHWARMERS_KEY" in text(refused)

    through(STDIO[0], guarded, story)


def test_what_is_refused_before_the_protocol_is_a_json_rpc_error(guarded, keys):
    key = bearer(keys["any"])
    assert post(guarded, LIST, key).status == 200
    refused = {
        401: post(guarded, LIST),
        403: post(guarded, LIST, key | {"Host": "evil.example"}),
        415: post(guarded, LIST, key | {"Content-Type": "text/plain"}),
        400: post(guarded, None, key, raw=b'{"jsonrpc": '),
        413: post(guarded, None, key, raw=b'"' + b"x" * 600_000 + b'"'),
        405: guarded.request("GET", "/mcp", headers=ACCEPT | key),
        404: guarded.request("GET", "/mcp/else", headers=ACCEPT | key),
    }
    for status, answer in refused.items():
        assert answer.status == status
        assert answer.headers["content-type"] == "application/json"
        assert (answer.json["jsonrpc"], answer.json["id"], answer.json["error"]["data"]["status"]) == ("2.0", None, status)
        assert isinstance(answer.json["error"]["code"], int) and len(answer.json["error"]["message"]) > 20
    assert refused[401].headers["www-authenticate"] == "Bearer"
    assert "POST" in refused[405].headers["allow"]
    assert guarded.request("DELETE", "/mcp", headers=ACCEPT | key).status == 405


def test_other_sites_pages_are_refused_and_allowed_ones_are_not(guarded, keys):
    key = bearer(keys["any"])
    assert post(guarded, CALL, key | {"Origin": "https://evil.example"}).status == 403
    assert post(guarded, CALL, key | {"Sec-Fetch-Site": "cross-site"}).status == 403
    allowed = post(guarded, CALL, key | {"Origin": "https://chat.example"})
    assert allowed.status == 200
    assert allowed.headers["access-control-allow-origin"] == "https://chat.example"
    assert b"bench/pair" in allowed.body, "its tools are asked from there too"
    asked = {"Origin": "https://chat.example", "Access-Control-Request-Method": "POST"}
    preflight = guarded.request("OPTIONS", "/mcp", headers=asked | {"Access-Control-Request-Headers": "mcp-protocol-version"})
    assert (preflight.status, preflight.headers["access-control-allow-headers"]) == (204, "mcp-protocol-version")


def test_no_request_needs_one_before_it_and_none_leaves_a_session(guarded, keys):
    for header in ("authorization", "x-api-key", "x-goog-api-key"):
        value = f"Bearer {keys['any']}" if header == "authorization" else keys["any"]
        answer = post(guarded, CALL, {header: value, "Mcp-Session-Id": "made-up"})
        assert answer.status == 200 and b"bench/echoing" in answer.body
        assert "mcp-session-id" not in answer.headers
    assert post(guarded, {"jsonrpc": "2.0", "method": "notifications/initialized"}, bearer(keys["any"])).status == 202
    assert guarded.request("POST", "/mcp?key=" + keys["any"], CALL, ACCEPT).status == 401


def test_the_access_log_has_one_line_for_a_call(guarded, keys):
    before = guarded.log.count("bench.access")
    assert post(guarded, CALL, bearer(keys["any"])).status == 200
    wait_for(lambda: guarded.log.count("bench.access") > before)
    (line,) = guarded.log.splitlines()[-1:]
    assert re.search(r"bench\.access: POST /mcp 200 [\d.]+ ms any$", line)


@pytest.mark.parametrize("door", HTTP, ids=str)
def test_a_client_that_gives_up_leaves_a_panel_that_is_read_later(guarded, keys, door):
    async def gives_up(client):
        progress = Progress()
        late = {"collection": "late", "prompt": "Take your time."}
        asking = asyncio.ensure_future(client.call_tool("ask", late, progress_callback=progress))
        await asyncio.wait_for(progress.first.wait(), PATIENCE)
        asking.cancel()
        return re.search(r"panel (\S+) is thinking", progress.words)[1]

    panel = through(door, guarded, gives_up, keys["any"])

    async def comes_back(client):
        early = await client.call_tool("get_panel", {"panel": panel, "wait": 0})
        read = await client.call_tool("get_panel", {"panel": panel, "wait": PATIENCE})
        assert [seat["status"] for seat in read.structured_content["seats"]] == ["ok", "ok"]
        assert read.structured_content["status"] == "done"
        return early.structured_content

    early = through(door, guarded, comes_back, keys["any"])
    if early["status"] == "running":
        assert "get_panel" in early["text"] and "late still at work" in early["text"]


@pytest.mark.parametrize("door", EITHER, ids=str)
def test_whoever_waits_no_longer_gets_what_there_is_and_how_to_get_the_rest(guarded, keys, door):
    async def story(client):
        asked = await client.call_tool("ask", {"collection": "late", "prompt": "Slowly.", "wait": 1})
        page = asked.structured_content
        assert page["status"] == "running"
        assert f'get_panel(panel="{page["panel"]}")' in text(asked)
        read = await client.call_tool("get_panel", {"panel": page["panel"], "wait": PATIENCE})
        assert read.structured_content["status"] == "done" and "The answer is 42." in text(read)

    through(door, guarded, story, keys["any"])


def test_a_broken_connection_stops_no_panel(guarded, keys):
    arguments = {"collection": "late", "prompt": "Hang up."}
    call = CALL | {"params": {"name": "ask", "arguments": arguments, "_meta": {"progressToken": 1}}}
    body = json.dumps(call).encode()
    head = {"Host": f"127.0.0.1:{guarded.port}", "Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in (ACCEPT | head | bearer(keys["any"])).items())
    with socket.create_connection(("127.0.0.1", guarded.port), PATIENCE) as connection:
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body)
        seen = b""
        while b"is thinking" not in seen:
            seen += connection.recv(65_536)
    panel = re.search(rb"panel (p\S+) is thinking", seen)[1].decode()
    seats = "select status from evidence_call where panel_id = (select id from evidence_panel where panel_id = ?)"
    wait_for(lambda: guarded.rows(seats, panel) == [("ok",), ("ok",)])
    assert "Traceback" not in guarded.log and "never retrieved" not in guarded.log


@pytest.mark.parametrize("door", EITHER, ids=str)
def test_twenty_ask_at_once(guarded, keys, door):
    async def story(client):
        asks = (client.call_tool("ask", {"collection": "echoing", "prompt": f"number {number}."}) for number in range(20))
        answers = await asyncio.gather(*asks)
        assert len({one.structured_content["panel"] for one in answers}) == 20
        assert all(f"number {number}." in text(one) for number, one in enumerate(answers))

    through(door, guarded, story, keys["any"])


def wait_for(check):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if check():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")
