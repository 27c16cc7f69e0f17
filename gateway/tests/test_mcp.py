"""Agents: the official SDK's client against a running server, over HTTP and over stdio, in two generations of the protocol."""

import re

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.mcp_client import COLLECTIONS, DOORS, EITHER, MODELS, Progress, text, through
from gateway.tests.running_server import running_server

# Two hundred thousand bytes and more, of characters of one to four bytes, with neither a run of base64 nor a blank end.
LONG = "".join(f"{number}: naïve 漢字 😀 and\r\nsome <answer-{number}> words\n" for number in range(4_500)) + "end"


@pytest.fixture(scope="module")
def bench(upstream, tmp_path_factory):
    file = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 1\n"
    with running_server(tmp_path_factory.mktemp("mcp"), file, BENCH_TRUSTED_PROXIES="127.0.0.1") as server:
        yield server


@pytest.mark.parametrize("door", DOORS, ids=str)
def test_an_agent_lists_asks_reads_and_judges(bench, door):
    async def story(client):
        listed = await client.call_tool("list_collections", {})
        assert "bench/pair: For pair" in text(listed)
        pair = next(row for row in listed.structured_content["collections"] if row["name"] == "bench/pair")
        assert pair["members"] == ["fast", "steady"] and pair["explorers"] == 1
        progress = Progress()
        asked = await client.call_tool(
            "ask", {"collection": "bench/pair", "prompt": "Is it stale?", "system": "Be brief."}, progress_callback=progress
        )
        page = asked.structured_content
        assert page["status"] == "done" and page["pages"] == 1 and page["next"] == ""
        assert [seat["alias"] for seat in page["seats"]] == ["fast", "steady"]
        assert "No stale read." in text(asked) == page["text"]
        assert f'get_panel(panel="{page["panel"]}")' in progress.told[0][2]
        assert "1 of 2 seats: fast ok" in progress.words and "2 of 2 seats: steady ok" in progress.words
        assert [told for told, _, _ in progress.told] == sorted({told for told, _, _ in progress.told})
        call = page["seats"][0]["call"]
        owed = await client.call_tool("pending_verdicts", {"panel": page["panel"]})
        assert call in text(owed) and "Is it stale?" in text(owed)
        given = {"call": call, "useful": True, "note": "checked", "real": ["no stale read"], "false": []}
        judged = await client.call_tool("verdict", given)
        assert judged.structured_content == {"call": call, "written": True}
        again = await client.call_tool("verdict", given)
        assert again.structured_content["written"] is False and "on record already" in text(again)
        left = await client.call_tool("pending_verdicts", {"panel": page["panel"]})
        assert [one["call"] for one in left.structured_content["owed"]] == [page["seats"][1]["call"]]
        read = await client.call_tool("get_panel", {"panel": page["panel"]})
        assert text(read) == text(asked)

    through(door, bench, story)
    assert not any(said in bench.log for said in ("Is it stale?", "stale read", "Be brief", "Traceback"))


@pytest.mark.parametrize("door", EITHER, ids=str)
def test_each_tool_says_its_rules_and_what_it_changes(bench, door):
    async def story(client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"list_collections", "ask", "get_panel", "verdict", "pending_verdicts"}
        reads = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
        assert reads == {"list_collections", "get_panel", "pending_verdicts"}
        assert set(tools["ask"].input_schema["properties"]) == {"collection", "prompt", "merged", "with", "system", "wait"}
        assert tools["ask"].input_schema["required"] == ["collection", "prompt"]
        for rule in ("by the task", "real work", "no proof", "Name every seat", "verdict for each seat", "untrusted"):
            assert rule in tools["ask"].description
        assert all(tool.output_schema for tool in tools.values())
        assert "verdict" in client.instructions

    through(door, bench, story)


@pytest.mark.parametrize("door", EITHER, ids=str)
def test_a_long_answer_is_paged_and_put_together_again(bench, door):
    async def story(client):
        asked = await client.call_tool("ask", {"collection": "echoing", "prompt": LONG})
        pages = [asked.structured_content]
        while pages[-1]["next"]:
            name, panel, number = re.fullmatch(r'(\w+)\(panel="(\S+)", page=(\d+)\)', pages[-1]["next"]).groups()
            read = await client.call_tool(name, {"panel": panel, "page": int(number)})
            assert pages[-1]["next"] != read.structured_content["next"]
            assert f"page {number} of {pages[0]['pages']}" in text(read)
            pages.append(read.structured_content)
        assert len(pages) == pages[0]["pages"] > 5
        assert all(len(page["text"]) <= 40_000 for page in pages)
        assert f"[goes on: {pages[0]['next']}]" in text(asked)
        whole = "".join(page["text"] for page in pages)
        mark = re.search(r"<answer-([0-9a-f]{12})>\n", whole)[1]
        answer = whole.partition(f"<answer-{mark}>\n")[2].rpartition(f"\n</answer-{mark}>")[0]
        assert answer.encode() == LONG.encode()
        assert len(answer.encode()) > 200_000
        beyond = await client.call_tool("get_panel", {"panel": pages[0]["panel"], "page": len(pages) + 1})
        assert beyond.is_error and f"has {len(pages)}" in text(beyond)

    through(door, bench, story)


@pytest.mark.parametrize("door", EITHER, ids=str)
def test_what_the_bench_refuses_is_told_whole(bench, door):
    async def story(client):
        unknown = await client.call_tool("ask", {"collection": "nowhere", "prompt": "Hi"})
        assert unknown.is_error
        assert all(f"bench/{name}" in text(unknown) and f"For {name}" in text(unknown) for name in COLLECTIONS)
        failed = await client.call_tool("ask", {"collection": "failing", "prompt": "Hi"})
        assert failed.is_error
        assert "broken: " in text(failed) and re.search(r'get_panel\(panel="p\d{8}-\d{6}-\w{4}"\)', text(failed))
        nominated = await client.call_tool("ask", {"collection": "pair", "prompt": "Hi", "with": ["exttra"]})
        assert nominated.is_error and "extra" in text(nominated)
        assert "no panel" in text(await client.call_tool("get_panel", {"panel": "p20260101-000000-aaaa"}))
        assert "no call" in text(await client.call_tool("verdict", {"call": "p20260101-000000-aaaa.member1", "useful": True}))

    through(door, bench, story)


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("ask", {"collection": 5, "prompt": "Hi"}, "collection"),
        ("ask", {"collection": "pair"}, "prompt"),
        ("ask", {"collection": "pair", "prompt": ""}, "prompt"),
        ("get_panel", {"panel": "p20260101-000000-aaaa/events"}, "no panel"),
        ("ask", {"collection": "pair", "prompt": "Hi", "with": "fast"}, "with"),
        ("ask", {"collection": "pair", "prompt": "Hi", "mergd": True}, "mergd"),
        ("ask", {"collection": "pair", "prompt": "Hi", "wait": -1}, "wait"),
        ("verdict", {"call": "p.member1", "useful": "perhaps"}, "useful"),
        ("get_panel", {"panel": "p", "page": 0}, "page"),
        ("judge", {}, "judge"),
    ],
)
def test_a_call_that_no_tool_takes_names_what_is_wrong(bench, tool, arguments, named):
    async def story(client):
        refused = await client.call_tool(tool, arguments)
        assert refused.is_error and named in text(refused)

    through(EITHER[0], bench, story)


def test_what_a_trusted_proxy_brings_may_use_the_tools(bench):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_collections", "arguments": {}}}
    brought = {"X-Forwarded-For": "192.0.2.7", "Accept": "application/json, text/event-stream"}
    answer = bench.request("POST", "/mcp", call, brought)
    assert answer.status == 200 and b"bench/pair" in answer.body


def test_a_merged_panel_is_one_answer_and_each_seats_own_is_there(bench):
    async def story(client):
        progress = Progress()
        asked = await client.call_tool(
            "ask", {"collection": "pair", "prompt": "Is it?", "merged": True, "with": ["extra"]}, progress_callback=progress
        )
        page = asked.structured_content
        assert [seat["seat"] for seat in page["seats"]] == ["member", "member", "explorer", "merger"]
        assert "has merged the answers: ok" in progress.told[-1][2] and progress.told[-1][:2] == (4, 4)
        assert text(asked).count("<answer-") == 2 and "Merged from" in text(asked)
        own = await client.call_tool("get_panel", {"panel": page["seats"][2]["call"]})
        assert "Named." in text(own)

    through(EITHER[0], bench, story)
