"""OpenAI chat completions through the front door: a panel answers, in one reply and as a stream."""

import json
import re
import time

import openai
import pytest

HI = [{"role": "user", "content": "Say anything."}]


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.base_url}/v1", api_key="local", max_retries=0, timeout=30) as client:
        yield client


def events(raw: bytes) -> list:
    return [json.loads(line[6:]) for line in raw.decode().split("\n") if line.startswith("data: {")]


def test_every_member_answers_and_is_named(client):
    reply = client.chat.completions.create(model="bench/pair", messages=HI)
    bench = reply.model_extra["bench"]
    assert [(seat["seat"], seat["alias"], seat["status"]) for seat in bench["seats"]] == [
        ("member", "fast", "ok"),
        ("member", "steady", "ok"),
    ]
    assert [seat["answer"] for seat in bench["seats"]] == ["No stale read. ", "The answer is 42."]
    for seat in bench["seats"]:
        assert seat["call"].startswith(f"{bench['panel']}.member")
        assert seat["call"] in reply.choices[0].message.content
    assert re.fullmatch(r"p\d{8}-\d{6}-[0-9a-f]{4}", bench["panel"])
    assert (bench["answered"], bench["degraded"], bench["shape"]) == (2, False, "general")
    assert reply.model == "bench/pair"


def test_the_short_name_and_latest_mean_the_collection(server):
    assert server.chat("pair").json["bench"]["collection"] == "bench/pair"
    assert server.chat("bench/pair:latest").json["bench"]["collection"] == "bench/pair"


def test_sections_stream_as_seats_finish(client):
    started = time.monotonic()
    arrivals = {}
    for chunk in client.chat.completions.create(model="bench/staggered", messages=HI, stream=True):
        text = chunk.choices[0].delta.content or ""
        for alias in ("fast", "steady", "slow"):
            if f"## member · {alias}" in text:
                arrivals[alias] = time.monotonic() - started
    assert list(arrivals) == ["fast", "steady", "slow"]
    # The one takes 0.7 seconds longer; what a busy machine holds up for half a second is together with what comes then.
    assert arrivals["slow"] - arrivals["fast"] > 0.1
    assert chunk.choices[0].finish_reason == "stop"
    assert len(chunk.model_extra["bench"]["seats"]) == 3


def test_the_stream_helper_and_usage_agree_with_the_plain_reply(client):
    with client.chat.completions.stream(model="bench/pair", messages=HI, stream_options={"include_usage": True}) as stream:
        final = stream.get_final_completion()
    plain = client.chat.completions.create(model="bench/pair", messages=HI)
    assert final.choices[0].message.role == "assistant"
    assert len(final.choices[0].message.content) == len(plain.choices[0].message.content)
    assert final.usage.prompt_tokens == plain.usage.prompt_tokens


def test_a_stream_has_the_headers_that_keep_proxies_from_holding_it_back(server):
    reply = server.chat("bench/pair", stream=True)
    assert reply.headers["content-type"] == "text/event-stream"
    assert reply.headers["cache-control"] == "no-cache, no-transform"
    assert reply.headers["x-accel-buffering"] == "no"
    assert reply.body.endswith(b"data: [DONE]\n\n")


def test_what_every_seat_is_sent_is_the_conversation_itself(server, upstream):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why? Žluťoučký 🐎"}]
    server.request("POST", "/v1/chat/completions", {"model": "echoing", "messages": messages, "temperature": 2})
    sent = next(request for request in reversed(upstream.requests) if request.body["model"] == "echo")
    assert sent.body["messages"] == messages
    assert sent.body["stream"] is True
    assert "temperature" not in sent.body
    assert sent.headers["x-bench-depth"] == "1"


def test_ignored_settings_are_named_and_bench_can_be_left_out(server):
    assert set(server.chat("bench/pair", temperature=0.3, n=2).json["bench"]["ignored"]) == {"temperature", "n"}
    assert "bench" not in server.chat("bench/pair", bench={"field": False}).json
    assert all("bench" not in event for event in events(server.chat("bench/pair", stream=True, bench={"field": False}).body))


def test_a_failed_seat_is_told_and_the_others_answer(server):
    reply = server.chat("bench/half")
    bench = reply.json["bench"]
    assert reply.status == 200
    assert [(seat["alias"], seat["status"], seat["error_kind"]) for seat in bench["seats"]] == [
        ("fast", "ok", ""),
        ("broken", "error", "unavailable"),
    ]
    assert bench["skipped"] == [{"seat": "member", "alias": "gone", "why": "retired"}]
    assert bench["degraded"] is True
    assert "Not asked: member gone (retired)" in reply.json["choices"][0]["message"]["content"]


def test_an_open_code_fence_swallows_nothing_after_it(server):
    content = server.chat("bench/fences").json["choices"][0]["message"]["content"]
    assert "```py\n```\n\n## member · fast" in content


def test_nobody_answering_is_a_502_that_sdks_do_not_repeat(server, upstream):
    before = upstream.stats["err-500"]
    reply = server.chat("bench/failing")
    assert reply.status == 502
    assert reply.headers["x-should-retry"] == "false"
    assert reply.json["bench"]["seats"][0]["status"] == "error"
    with pytest.raises(openai.InternalServerError):
        openai.OpenAI(base_url=f"{server.base_url}/v1", api_key="x").chat.completions.create(model="bench/failing", messages=HI)
    assert upstream.stats["err-500"] == before + 2


def test_everyone_rate_limited_is_a_429_with_the_smallest_wait(server):
    reply = server.chat("bench/limits-chat")
    assert (reply.status, reply.headers["retry-after"], reply.headers["x-should-retry"]) == (429, "9", "false")


def test_no_wait_is_invented_where_no_upstream_says_one(server):
    reply = server.chat("bench/unsaid")
    assert (reply.status, reply.headers["x-should-retry"]) == (429, "false")
    assert "retry-after" not in reply.headers
    assert server.chat("bench/half-said").headers["retry-after"] == "20"


def test_nobody_answering_a_stream_is_told_in_it(server, client):
    sent = events(server.chat("bench/failing", stream=True).body)
    assert "## member · broken" in "".join(event["choices"][0]["delta"].get("content") or "" for event in sent[:-1])
    assert "No seat of panel" in sent[-1]["error"]["message"]
    assert sent[-1]["bench"]["seats"][0]["status"] == "error"
    with pytest.raises(openai.APIError):
        list(client.chat.completions.create(model="bench/failing", messages=HI, stream=True))


def test_nominated_models_sit_when_there_are_seats(server):
    refused = server.chat("bench/pair", **{"with": ["echo"]})
    assert refused.status == 400
    assert "0 explorer seats" in refused.json["error"]["message"]
    near = server.chat("bench/pair", **{"with": ["stedy"]})
    assert near.status == 400
    assert "steady" in near.json["error"]["message"]


def test_a_prompt_over_a_members_window_is_refused_before_anybody_is_asked(server, upstream):
    before = upstream.stats["say-small"]
    for stream in (False, True):
        reply = server.chat("bench/tight", "a" * 4000, stream=stream)
        assert reply.status == 413
        assert "small takes 300" in reply.json["error"]["message"]
        assert "about 1,100 tokens" in reply.json["error"]["message"]
    assert upstream.stats["say-small"] == before
    assert server.chat("bench/tight", "a" * 400).status == 200


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 40}}


def test_only_models_that_see_are_shown_an_image(server, upstream):
    parts = [{"type": "text", "text": "What is it?"}, IMAGE]
    body = {"model": "bench/seeing", "messages": [{"role": "user", "content": parts}]}
    bench = server.request("POST", "/v1/chat/completions", body).json["bench"]
    assert [seat["alias"] for seat in bench["seats"]] == ["eyes"]
    assert "not known to take images" in bench["skipped"][0]["why"]
    assert (bench["shape"], bench["shape_by"]) == ("vision", "the request has images")
    assert upstream.requests[-1].body["messages"] == body["messages"]
    assert not server.rows("select 1 from evidence_panel where request like '%iVBORw0KGgo%'")
    blind = server.request("POST", "/v1/chat/completions", body | {"model": "bench/pair"})
    assert blind.status == 400
    assert "never answered blind" in blind.json["error"]["message"]


def test_nobody_to_seat_is_a_503_that_says_why(server):
    reply = server.chat("bench/leaving")
    assert reply.status == 503
    assert int(reply.headers["retry-after"]) > 0
    assert "gone: retired" in reply.json["error"]["message"]


def test_the_lists_name_every_collection_in_both_modes(server, client):
    listed = {model.id: model for model in client.models.list()}
    assert {"bench/pair", "bench/pair:merged"} <= set(listed)
    pair = listed["bench/pair"].model_extra
    assert (pair["members"], pair["tags"], pair["description"], pair["explorers"]) == (
        ["fast", "steady"],
        ["test"],
        "For pair",
        0,
    )
    assert listed["bench/tight"].model_extra["together"] == {"context_window": 300, "capabilities": []}
    assert client.models.retrieve("bench/pair:merged").id == "bench/pair:merged"
    assert server.request("GET", "/v1/models/bench%2Fpair").json["id"] == "bench/pair"
    assert server.request("GET", "/models/bench/pair").json["id"] == "bench/pair"


def test_an_unknown_collection_is_refused_with_all_of_them(server, client):
    for model, status in (("bench/none", 404), ("gpt-4o", 404), ("bench/pair:banana", 404), ("BENCH/PAIR", 404), ("", 400)):
        reply = server.chat(model)
        assert reply.status == status, model
        assert "bench/pair: For pair [test]" in reply.json["error"]["message"]
        assert "bench/tight" in reply.json["error"]["message"]
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("bench/none")


def test_a_panel_can_be_read_back(server):
    bench = server.chat("bench/half").json["bench"]
    recorded = server.request("GET", f"/bench/panels/{bench['panel']}").json
    assert recorded.pop("status") == "done"
    assert recorded == bench
    missing = server.request("GET", "/bench/panels/p20260101-000000-0000")
    assert missing.status == 404
    assert missing.json["error"]["message"]
