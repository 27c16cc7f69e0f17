"""Anthropic Messages through the front door, with the real SDK: plain, streamed, counted, listed, refused."""

import json

import anthropic
import pytest

HI = [{"role": "user", "content": "Say anything."}]
ASK = {"model": "bench/pair", "max_tokens": 1024, "messages": HI}
PIXELS = "iVBORw0KGgo" * 40


@pytest.fixture(scope="module")
def client(server):
    with anthropic.Anthropic(base_url=server.base_url, api_key="local", max_retries=0, timeout=30) as client:
        yield client


def post(server, path="/v1/messages", **fields):
    return server.request("POST", path, ASK | fields)


def test_every_member_answers_and_is_named(client):
    reply = client.messages.create(**ASK)
    bench = reply.model_extra["bench"]
    assert [(seat["alias"], seat["status"], seat["answer"]) for seat in bench["seats"]] == [
        ("fast", "ok", "No stale read. "),
        ("steady", "ok", "The answer is 42."),
    ]
    assert all(seat["call"] in reply.content[0].text for seat in bench["seats"])
    assert (reply.type, reply.role, reply.model, reply.stop_reason) == ("message", "assistant", "bench/pair", "end_turn")
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply._request_id == f"req_{bench['panel']}"
    assert bench["ignored"] == ["max_tokens"]


def test_a_raw_stream_has_the_events_in_their_order_and_bench_on_message_delta(client):
    sent = list(client.messages.create(**ASK, stream=True))
    assert [event.type for event in sent if event.type != "content_block_delta"] == [
        "message_start",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    ended = sent[-2]
    assert len(ended.model_extra["bench"]["seats"]) == 2
    assert ended.usage.output_tokens > 0
    assert sent[0].message.model == "bench/pair"


def test_the_stream_helper_agrees_with_the_plain_reply(client):
    with client.messages.stream(**ASK) as stream:
        pieces = list(stream.text_stream)
        final = stream.get_final_message()
    plain = client.messages.create(**ASK)
    assert len(pieces) > 2
    assert final.content[0].text == "".join(pieces)
    assert len(final.content[0].text) == len(plain.content[0].text)
    assert final.stop_reason == "end_turn"
    assert (final.usage.input_tokens, final.usage.output_tokens) == (plain.usage.input_tokens, plain.usage.output_tokens)


def test_a_stream_has_a_request_id_and_is_not_held_back(server):
    reply = post(server, stream=True)
    assert reply.headers["content-type"] == "text/event-stream"
    assert reply.headers["cache-control"] == "no-cache, no-transform"
    assert reply.headers["request-id"].startswith("req_")
    assert reply.body.startswith(b"event: message_start\ndata: {")
    assert reply.body.endswith(b'event: message_stop\ndata: {"type": "message_stop"}\n\n')
    assert reply.body.isascii()


def test_both_paths_any_version_and_the_beta_query_answer(server, client):
    assert post(server, "/messages").status == 200
    for version in ("2023-06-01", "2026-10-21", "yesterday"):
        reply = server.request("POST", "/v1/messages?beta=true", ASK, {"anthropic-version": version, "anthropic-beta": "x"})
        assert reply.status == 200
    assert client.beta.messages.create(**ASK).content[0].text


def test_what_every_seat_is_sent_is_the_conversation_itself(client, upstream):
    messages = [
        {"role": "user", "content": "Why? Žluťoučký 🐎"},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "As"}],
        },
    ]
    reply = client.messages.create(
        **ASK | {"model": "echoing", "messages": messages}, system="Be brief.", extra_body={"temperature": 1}
    )
    sent = next(request for request in reversed(upstream.requests) if request.body["model"] == "echo")
    assert sent.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why? Žluťoučký 🐎"},
        {"role": "assistant", "content": "As"},
    ]
    assert "temperature" not in sent.body
    assert set(reply.model_extra["bench"]["ignored"]) == {"max_tokens", "temperature", "thinking"}


def test_only_models_that_see_are_shown_an_image(server, client, upstream):
    source = {"type": "base64", "media_type": "image/png", "data": PIXELS}
    messages = [{"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": "What is it?"}]}]
    bench = client.messages.create(**ASK | {"model": "bench/seeing", "messages": messages}).model_extra["bench"]
    assert [seat["alias"] for seat in bench["seats"]] == ["eyes"]
    assert upstream.requests[-1].body["messages"][0]["content"][0]["image_url"]["url"] == f"data:image/png;base64,{PIXELS}"
    assert not server.rows("select 1 from evidence_panel where request like ?", f"%{PIXELS[:40]}%")
    with pytest.raises(anthropic.BadRequestError, match="never answered blind"):
        client.messages.create(**ASK | {"messages": messages})


def test_a_merged_reply_is_one_message(client):
    reply = client.messages.create(**ASK | {"model": "bench/pair:merged"})
    assert (reply.model, reply.model_extra["bench"]["merger"]["seat"]) == ("bench/pair:merged", "merger")


def test_bench_can_be_left_out(server):
    assert "bench" not in post(server, bench={"field": False}).json
    assert b'"bench"' not in post(server, bench={"field": False}, stream=True).body


def test_counting_asks_nobody(client, upstream):
    before = upstream.stats.total()
    messages = [{"role": "user", "content": "a" * 4000}]
    counted = client.messages.count_tokens(model="bench/pair", messages=messages, system="b" * 400)
    assert abs(counted.input_tokens - 1210) <= 14
    with_tools = client.messages.count_tokens(
        model="bench/pair", messages=messages, system="b" * 400, tools=[{"name": "f", "input_schema": {"type": "object"}}]
    )
    assert with_tools.input_tokens == counted.input_tokens
    with pytest.raises(anthropic.NotFoundError):
        client.messages.count_tokens(model="bench/none", messages=HI)
    assert upstream.stats.total() == before


def test_the_lists_are_in_anthropics_shape(server, client):
    listed = {model.id: model for model in client.models.list()}
    assert {"bench/pair", "bench/pair:merged"} <= set(listed)
    assert (listed["bench/tight"].display_name, listed["bench/tight"].max_input_tokens) == ("bench/tight", 300)
    assert listed["bench/pair"].model_extra["members"] == ["fast", "steady"]
    assert client.models.retrieve("bench/pair:merged").id == "bench/pair:merged"
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("bench/none")
    assert server.request("GET", "/v1/models").json["object"] == "list"


TOOL_TURN = [
    *HI,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}]},
]
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
FILE = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tools": [{"name": "f", "input_schema": {"type": "object"}}]}, "cannot run tools"),
        ({"messages": TOOL_TURN}, "cannot run tools"),
        ({"messages": [{"role": "user", "content": [PDF]}]}, "Send the text"),
        ({"messages": [{"role": "user", "content": [FILE]}]}, "not by file id"),
    ],
)
def test_what_a_panel_cannot_do_is_refused_streamed_or_not(client, upstream, stream, fields, words):
    before = upstream.stats.total()
    with pytest.raises(anthropic.BadRequestError, match=words) as refused:
        client.messages.create(**ASK | fields, stream=stream)
    assert refused.value.type == "invalid_request_error"
    assert refused.value.request_id == refused.value.body["request_id"]
    assert upstream.stats.total() == before


def test_every_refusal_is_the_sdks_own_error(client, server):
    for error, kind, fields in (
        (anthropic.NotFoundError, "not_found_error", {"model": "bench/none"}),
        (
            anthropic.ContentTooLargeError,
            "request_too_large",
            {"model": "bench/tight", "messages": [HI[0] | {"content": "a" * 19_000_000}]},
        ),
        (anthropic.ContentTooLargeError, "request_too_large", {"messages": [HI[0] | {"content": "a" * 21_000_000}]}),
        (anthropic.ServiceUnavailableError, "overloaded_error", {"model": "bench/leaving"}),
        (anthropic.InternalServerError, "api_error", {"model": "bench/failing"}),
        (anthropic.RateLimitError, "rate_limit_error", {"model": "bench/limits-messages"}),
    ):
        with pytest.raises(error) as refused:
            client.messages.create(**ASK | fields)
        assert (refused.value.body["type"], refused.value.body["error"]["type"]) == ("error", kind)
        assert refused.value.body["error"]["message"]
    with pytest.raises(anthropic.ContentTooLargeError, match="small takes 300"):
        client.messages.create(**ASK | {"model": "bench/tight", "messages": [HI[0] | {"content": "a" * 4000}]})
    with pytest.raises(anthropic.NotFoundError, match="bench/pair: For pair"):
        client.messages.create(**ASK | {"model": "bench/none"})


def test_nobody_answering_is_not_asked_again_by_the_sdk(server, upstream):
    before = upstream.stats["err-500"]
    with pytest.raises(anthropic.InternalServerError) as failed:
        anthropic.Anthropic(base_url=server.base_url, api_key="x").messages.create(**ASK | {"model": "bench/failing"})
    assert failed.value.body["bench"]["seats"][0]["status"] == "error"
    assert upstream.stats["err-500"] == before + 1


def test_nobody_answering_a_stream_is_told_in_it(client, server):
    with pytest.raises(anthropic.APIStatusError, match="No seat of panel") as failed:
        list(client.messages.create(**ASK | {"model": "bench/failing"}, stream=True))
    assert failed.value.body["error"]["type"] == "api_error"
    reply = post(server, model="bench/failing", stream=True)
    name, data = reply.body.decode().rstrip().rsplit("\n\n", 1)[1].split("\n")
    told = json.loads(data.removeprefix("data: "))
    assert (name, told["type"], told["request_id"]) == ("event: error", "error", reply.headers["request-id"])
    assert told["bench"]["seats"][0]["status"] == "error"


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/v1/messages", 405, "invalid_request_error"),
        ("POST", "/v1/messages/batches", 404, "not_found_error"),
        ("GET", "/messages/nothing", 404, "not_found_error"),
    ],
)
def test_paths_and_methods_are_refused_in_anthropics_words(server, method, path, status, kind):
    reply = server.request(method, path, raw=b"{}")
    assert (reply.status, reply.json["type"], reply.json["error"]["type"]) == (status, "error", kind)
    assert reply.headers["request-id"] == reply.json["request_id"]


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 100_000, b"null", b"[]", b'{"model": NaN}', b'{"model": "\xff"}'])
def test_what_is_no_request_is_a_400_in_anthropics_words(server, raw):
    for path in ("/v1/messages", "/v1/messages/count_tokens"):
        reply = server.request("POST", path, raw=raw)
        assert (reply.status, reply.json["error"]["type"]) == (400, "invalid_request_error")
    form = server.request("POST", "/v1/messages", raw=b"{}", headers={"Content-Type": "text/plain"})
    assert (form.status, form.json["type"]) == (415, "error")


WRONG = [None, 5, 0.5, True, "x", [], {}, [None], [{}], {"a": 1}]


@pytest.mark.parametrize(
    "field", ["model", "messages", "system", "stream", "tools", "mcp_servers", "max_tokens", "bench", "with"]
)
def test_no_wrong_type_in_any_field_is_more_than_a_refusal(server, field):
    for value in WRONG:
        plain, streamed = (post(server, **{"model": "bench/none", "stream": stream, field: value}) for stream in (False, True))
        assert plain.status in (400, 404), (field, value, plain.body[:200])
        if field != "stream":
            told = plain.json["error"], streamed.json["error"]
            assert (plain.status, told[0]) == (streamed.status, told[1])


@pytest.mark.parametrize("value", WRONG)
def test_no_wrong_type_in_a_message_is_more_than_a_refusal(server, value):
    blocks = (
        {"type": "text", "text": value},
        {"type": value},
        {"type": "image", "source": value},
        {"type": "document", "source": value},
    )
    contents = [value, [value], *([block] for block in blocks)]
    for message in (HI[0] | {"role": value}, *(HI[0] | {"content": content} for content in contents)):
        reply = post(server, model="bench/none", messages=[message])
        assert reply.status in (400, 404), (message, reply.body[:200])
        assert reply.json["type"] == "error"
