"""Anthropic Messages read and written: what is understood, what is refused and how, what is ignored and named."""

import json

import pytest

from gateway.chat import ImagePart, TextPart
from gateway.errors import BadRequest, NotFound
from gateway.tests.replies import panel_reply
from gateway.wire import anthropic_messages, render_refusal
from gateway.wire.contract import ListedCollection

ROUTE, _, COUNT, _ = anthropic_messages.ROUTES
HI = {"role": "user", "content": "hi"}
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def parse(route=ROUTE, **fields):
    body = {"model": "bench/core", "max_tokens": 99, "messages": [HI]} | fields
    return anthropic_messages.parse_request(body, route)


def said(*blocks):
    """The parts that a user's message of these blocks is read as."""
    (message,) = parse(messages=[{"role": "user", "content": list(blocks)}]).messages
    return message.parts


def events(chunks) -> list:
    """Each event's data, which repeats its name."""
    read = []
    for chunk in chunks:
        name, data = chunk.decode("ascii").removesuffix("\n\n").split("\n")
        read.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {read[-1]['type']}"
    return read


def test_a_conversation_is_read_in_order():
    chat = parse(
        system="Be brief.",
        messages=[
            HI,
            {"role": "assistant", "content": [{"type": "text", "text": "Yes?"}]},
            {"role": "system", "content": "Now in Czech."},
            {"role": "user", "content": [PNG, {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}}]},
            {"role": "assistant", "content": "It is"},
        ],
        stream=True,
    )
    assert [message.role for message in chat.messages] == ["system", "user", "assistant", "system", "user", "assistant"]
    assert chat.messages[0].parts == (TextPart("Be brief."),)
    assert chat.messages[4].parts == (ImagePart("data:image/png;base64,iVBORw0KGgo="), TextPart("look"))
    assert chat.messages[5].parts == (TextPart("It is"),)
    assert (chat.format, chat.model, chat.stream, chat.ignored) == ("anthropic_messages", "bench/core", True, ("max_tokens",))


def test_system_may_be_blocks_of_text():
    system = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral"}}]
    assert parse(system=system).messages[0].parts == (TextPart("One."), TextPart("Two."))
    assert [message.role for message in parse(system=None).messages] == ["user"]


def test_system_text_of_no_blocks_is_none():
    assert parse(system=[]).messages == parse().messages
    with pytest.raises(BadRequest, match="not an empty list"):
        parse(messages=[HI, {"role": "assistant", "content": []}])


def test_an_image_may_be_a_url():
    assert said({"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}) == (
        ImagePart("https://x.example/a.png"),
    )


def test_a_chat_never_prints_its_image():
    secret = "A" * 400
    source = {"type": "base64", "media_type": "image/png", "data": secret}
    chat = parse(messages=[{"role": "user", "content": [{"type": "image", "source": source}]}])
    assert secret not in repr(chat)
    assert "[image: data URL" in chat.text


def test_documents_and_search_results_of_text_are_text():
    plain = {"type": "text", "media_type": "text/plain", "data": "Ada wrote it."}
    assert said({"type": "document", "source": plain, "title": "Notes", "context": "From 1843."}) == (
        TextPart("Notes"),
        TextPart("From 1843."),
        TextPart("Ada wrote it."),
    )
    blocks = {"type": "content", "content": [{"type": "text", "text": "Page 1"}, PNG]}
    assert said({"type": "document", "source": blocks}) == (
        TextPart("Page 1"),
        ImagePart("data:image/png;base64,iVBORw0KGgo="),
    )
    assert said({"type": "document", "source": {"type": "content", "content": "All of it"}}) == (TextPart("All of it"),)
    found = {
        "type": "search_result",
        "title": "T",
        "source": "https://x.example",
        "content": [{"type": "text", "text": "Found."}],
    }
    assert said(found) == (TextPart("T"), TextPart("https://x.example"), TextPart("Found."))


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
HIDDEN_THOUGHT = {"type": "redacted_thinking", "data": "eA=="}


def test_earlier_thinking_is_left_out_and_named():
    answer = {"role": "assistant", "content": [THOUGHT, HIDDEN_THOUGHT, {"type": "text", "text": "ok"}]}
    chat = parse(messages=[HI, answer, HI, {"role": "assistant", "content": [THOUGHT]}], thinking={"type": "adaptive"})
    assert [message.text for message in chat.messages] == ["hi", "ok", "hi"]
    assert chat.ignored == ("max_tokens", "thinking", "redacted_thinking")
    assert parse(messages=[HI, answer]).ignored == ("max_tokens", "thinking", "redacted_thinking")


def test_what_a_panel_does_not_pass_on_is_named():
    settings = {
        "temperature": 0.2,
        "top_k": 5,
        "metadata": {"user_id": "u"},
        "stop_sequences": ["x"],
        "service_tier": "auto",
        "output_config": {"effort": "low"},
        "container": "c1",
    }
    chat = parse(**settings, tools=[], mcp_servers=[], tool_choice={"type": "auto"}, top_p=None)
    assert set(chat.ignored) == {"max_tokens", *settings}


def test_the_benchs_own_settings_are_read_from_both_places():
    options = parse(**{"with": ["a"], "bench": {"with": ["b"], "reply": "merged", "merger": "c", "field": False}}).bench
    assert (options.nominated, options.reply, options.merger, options.field) == (("a", "b"), "merged", "c", False)


TOOL = {"name": "f", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [TOOL]},
        {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        {"mcp_servers": [{"type": "url", "url": "https://x.example", "name": "x"}]},
        *(
            {"messages": [HI, {"role": "assistant", "content": [{"type": kind, "id": "t", "name": "f", "input": {}}]}]}
            for kind in ("tool_use", "server_tool_use", "mcp_tool_use")
        ),
        *(
            {"messages": [{"role": "user", "content": [{"type": kind, "tool_use_id": "t", "content": "42"}]}]}
            for kind in ("tool_result", "mcp_tool_result", "web_search_tool_result", "code_execution_tool_result")
        ),
    ],
)
def test_tools_are_refused_and_the_refusal_says_what_to_send(fields):
    with pytest.raises(BadRequest, match=r"cannot run tools.*put what they would return into the prompt.*is coming"):
        parse(**fields)


def test_a_count_of_a_request_with_tools_is_of_its_text():
    assert parse(COUNT, tools=[TOOL]).messages == parse().messages


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
            "Send the text",
        ),
        ({"type": "document", "source": {"type": "url", "url": "https://x.example/a.pdf"}}, "Send the text"),
        ({"type": "document", "source": {"type": "file", "file_id": "file_1"}}, "Send the text"),
        ({"type": "document", "source": {"type": "text"}}, "must be a string"),
        ({"type": "document"}, "Send the text"),
        ({"type": "document", "source": {"type": "content", "content": [{"type": "document"}]}}, "Send text, image"),
        ({"type": "image", "source": {"type": "file", "file_id": "file_1"}}, "not by file id"),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
            "no other media",
        ),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png"}}, "must be a string"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png,x", "data": ""}}, "data:image/png"),
        ({"type": "image", "source": {"type": "url", "url": "ftp://x.example/a.png"}}, "https?"),
        ({"type": "image"}, "base64"),
        ({"type": "container_upload", "file_id": "file_1"}, "for a file, its text"),
        ({"type": "search_result", "title": "T", "source": "s", "content": [PNG]}, "Send text;"),
        ({"type": "input_audio"}, "Send text, image, document"),
        ({"type": "text"}, "must be a string"),
        ({"type": "text", "text": 5}, "must be a string"),
        ({}, "blocks cannot go here"),
        ("text", "must be an object"),
    ],
)
def test_blocks_that_cannot_go_to_a_panel_are_refused(block, words):
    with pytest.raises(BadRequest, match=words) as refusal:
        said(block)
    assert refusal.value.param.startswith("messages[0].content[0]")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": 5}, "model"),
        ({"messages": []}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [None]}, "messages[0]"),
        ({"messages": [{"role": "assistant", "content": [THOUGHT]}]}, "messages"),
        ({"messages": [{"content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "tool", "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": 5, "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
        ({"messages": [{"role": "system", "content": [PNG]}]}, "messages[0].content[0].type"),
        ({"system": 5}, "system"),
        ({"system": [PNG]}, "system[0].type"),
        ({"stream": "yes"}, "stream"),
        ({"tools": {}}, "tools"),
        ({"mcp_servers": "x"}, "mcp_servers"),
        ({"bench": {"reply": "banana"}}, "bench.reply"),
        ({"with": "fast"}, "with"),
    ],
)
def test_a_wrong_type_is_refused_by_the_name_of_its_field(fields, param):
    with pytest.raises(BadRequest) as refusal:
        parse(**fields)
    assert refusal.value.param == param
    assert param.partition("[")[0].partition(".")[0] in refusal.value.message


@pytest.mark.parametrize("payload", [None, [], "x", 5, True])
def test_a_body_that_is_no_object_is_refused(payload):
    with pytest.raises(BadRequest, match="must be an object"):
        anthropic_messages.parse_request(payload, ROUTE)


def test_the_reply_carries_bench_unless_told_not_to():
    rendered = anthropic_messages.render_reply(panel_reply(), ROUTE)
    bench = rendered.body.pop("bench")
    assert rendered.body == {
        "id": "msg_p1",
        "type": "message",
        "role": "assistant",
        "model": "bench/core",
        "content": [{"type": "text", "text": "# bench/core"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 2, "output_tokens": 3},
    }
    assert bench["seats"][0]["answer"] == "Yes."
    assert rendered.headers == {"request-id": "req_p1"}
    assert "bench" not in anthropic_messages.render_reply(panel_reply(field=False), ROUTE).body


def test_a_stream_opens_its_message_and_block_and_closes_them_with_bench():
    encoder = anthropic_messages.stream_encoder(parse(stream=True), ROUTE)
    sent = events([*encoder.start(), *encoder.text("a\u2028"), *encoder.finish(panel_reply())])
    assert [event["type"] for event in sent] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    message = sent[0]["message"]
    assert (message["type"], message["role"], message["content"], message["stop_reason"]) == ("message", "assistant", [], None)
    assert message["id"].startswith("msg_")
    assert message["usage"] == {"input_tokens": 0, "output_tokens": 1}
    assert sent[3]["delta"] == {"type": "text_delta", "text": "a\u2028"}
    assert sent[5]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert sent[5]["usage"] == {"input_tokens": 2, "output_tokens": 3}
    assert [event["type"] for event in sent if "bench" in event] == ["message_delta"]
    assert sent[5]["bench"]["panel"] == "p1"
    assert not any("bench" in event for event in events(encoder.finish(panel_reply(field=False))))


def test_a_stream_is_ascii_and_keeps_alive_with_a_ping():
    encoder = anthropic_messages.stream_encoder(parse(stream=True), ROUTE)
    assert all(event.isascii() for event in encoder.text("é\u2028汉"))
    assert events(encoder.keepalive()) == [{"type": "ping"}]


def test_a_failed_stream_ends_in_an_error_that_names_the_streams_request():
    encoder = anthropic_messages.stream_encoder(parse(stream=True), ROUTE)
    (event,) = events(encoder.error(502, "Nobody answered.", bench={"panel": "p1"}))
    assert event == {
        "type": "error",
        "error": {"type": "api_error", "message": "Nobody answered."},
        "request_id": encoder.headers["request-id"],
        "bench": {"panel": "p1"},
    }


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (405, "invalid_request_error"),
        (413, "request_too_large"),
        (415, "invalid_request_error"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (502, "api_error"),
        (503, "overloaded_error"),
        (508, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_errors_have_anthropics_shape(status, kind):
    body = anthropic_messages.render_error(status, "Why.", code="c", param="p")
    assert body.pop("request_id").startswith("req_")
    assert body == {"type": "error", "error": {"type": kind, "message": "Why."}}


def test_a_refusals_id_is_the_same_in_its_body_and_its_header():
    rendered = render_refusal(anthropic_messages, NotFound("No."))
    assert rendered.headers["request-id"] == rendered.body["request_id"]


def test_collections_are_listed_as_models_on_one_page():
    core = ListedCollection(
        id="bench/core",
        description="For all",
        tags=("a",),
        members=("fast",),
        shape="",
        reply="all",
        merger="",
        explorers=2,
        context_window=300,
        output_limit=None,
        capabilities=("vision",),
        created=1_700_000_000,
    )
    listed = anthropic_messages.render_models([core])
    assert (listed["has_more"], listed["first_id"], listed["last_id"]) == (False, "bench/core", "bench/core")
    (model,) = listed["data"]
    assert (model["type"], model["id"], model["display_name"], model["created_at"], model["lifecycle"]) == (
        "model",
        "bench/core",
        "bench/core",
        "2023-11-14T22:13:20Z",
        "active",
    )
    assert (model["max_input_tokens"], model["max_tokens"], model["members"]) == (300, None, ["fast"])
    assert model["together"] == {"context_window": 300, "capabilities": ["vision"]}
    assert anthropic_messages.render_models([]) == {"data": [], "has_more": False, "first_id": None, "last_id": None}
