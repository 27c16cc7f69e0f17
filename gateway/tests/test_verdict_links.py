"""Verdict links in replies: only where the collection has them, beside every answer, streamed and merged too."""

import re

import pytest

from gateway.panel import markdown
from gateway.tests.bench_file import bench_file
from gateway.tests.replies import asked_panel, seat_answer
from gateway.tests.running_server import running_server

LINK = re.compile(r"http://127\.0\.0\.1:\d+(/verdict/[^)\s]+/)")


@pytest.fixture(scope="module")
def server(upstream, tmp_path_factory):
    models = {"fast": {"model": "say-done"}, "also": {"model": "say-yes"}, "broken": {"model": "err-500"}}
    bench = bench_file(upstream.url, models, {"plain": ["fast"], "linked": ["fast", "also", "broken"]})
    bench = bench.replace("[collections.linked]", '[collections.linked]\nverdict_links = true\nmerger = "also"')
    folder = tmp_path_factory.mktemp("links")
    with running_server(folder, bench + "\n[limits]\nmax_explorers = 0\n", BENCHWARMERS_REQUIRE_KEYS="1") as running:
        yield running


@pytest.fixture(scope="module")
def key(server):
    return {"Authorization": f"Bearer {server.manage('create_key', 'app').stdout.strip()}"}


def ask(server, key, model, **fields):
    body = {"model": model, "messages": [{"role": "user", "content": "Anything."}]} | fields
    reply = server.request("POST", "/v1/chat/completions", body, key)
    assert reply.status == 200, reply.body
    return reply


def test_each_answer_has_two_links_and_one_judges_it_without_a_key(server, key):
    reply = ask(server, key, "bench/linked").json
    content = reply["choices"][0]["message"]["content"]
    paths = LINK.findall(content)
    # Of two answers; who failed has none.
    assert len(paths) == 4
    call = reply["bench"]["seats"][0]["call"]
    assert call in paths[0] and "~useful~" in paths[0] and "~not-useful~" in paths[1]
    assert key["Authorization"].split()[1] not in content
    assert b"Yes, it was useful" in server.request("GET", paths[0]).body
    assert server.request("POST", paths[0]).status == 200
    assert server.request("POST", paths[0]).status == 410
    assert server.rows("SELECT useful, given_by FROM evidence_verdict") == [(1, "app")]
    assert server.request("GET", paths[0], headers={"Host": "evil.example"}).status == 403
    assert paths[0].split("~")[-1].strip("/") not in server.log


@pytest.mark.parametrize("model", ["bench/plain", "bench/plain:merged"])
def test_elsewhere_there_are_none(server, key, model):
    assert not LINK.search(ask(server, key, model).body.decode())


def test_streams_and_merged_replies_have_them_too(server, key):
    streamed = ask(server, key, "bench/linked", stream=True).body.decode()
    assert len(LINK.findall(streamed)) == 4
    merged = ask(server, key, "bench/linked:merged").json["choices"][0]["message"]["content"]
    assert [path.split("~")[0].rpartition(".")[2] for path in LINK.findall(merged)] == ["merger", "merger"]


def test_a_reply_told_again_has_the_same_links(server, key):
    headers = key | {"Idempotency-Key": "once"}
    first, again = (LINK.findall(ask(server, headers, "bench/linked").body.decode()) for _ in range(2))
    assert first == again and len(first) == 4


def test_what_an_answer_leaves_open_takes_no_link_with_it():
    text = markdown.section(asked_panel(links_url="http://127.0.0.1:8123"), seat_answer(answer="```\nopen"))
    assert re.search(r"```\n\nWas it \[useful\]\(http://127\.0\.0\.1:8123/verdict/p1\.member1~", text)
