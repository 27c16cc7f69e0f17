"""OpenAI Responses read and written: what is understood, what is refused and how, what is ignored and named."""

import json
import re

import pytest
from openai.types.responses import Response

from gateway.chat import ImagePart, Message, TextPart
from gateway.errors import BadRequest
from gateway.tests.replies import panel_reply
from gateway.wire import openai_responses

ROUTE, COUNT = openai_responses.ROUTES[0], openai_responses.ROUTES[2]
HI = {"role": "user", "content": "hi"}
PNG = "data:image/png;base64,iVBORw0KGgo="


def parse(route=ROUTE, **fields):
    return openai_responses.parse_request({"model": "bench/core", "input": [HI]} | fields, route)


def events(*written: bytes) -> list:
    """Each event by its name line and its data, which have to agree."""
    read = []
    for raw in written:
        name, data = re.fullmatch(rb"event: (\S+)\ndata: (\{.*\})\n\n", raw).groups()
        read.append(json.loads(data))
        assert read[-1]["type"] == name.decode()
    return read


def test_a_conversation_is_read_in_order():
    chat = parse(
        instructions="Be brief.",
        input=[
            {"role": "developer", "content": "In Czech.", "type": "message"},
            HI,
            {
                "type": "message",
                "id": "msg_1",
                "status": "completed",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": "Yes.", "annotations": [], "logprobs": []},
                    {"type": "refusal", "refusal": "No."},
                ],
            },
            {"role": "user", "content": [{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": PNG}]},
        ],
        stream=True,
    )
    assert chat.messages == (
        Message("system", (TextPart("Be brief."),)),
        Message("system", (TextPart("In Czech."),)),
        Message("user", (TextPart("hi"),)),
        Message("assistant", (TextPart("Yes."), TextPart("No."))),
        Message("user", (TextPart("look"), ImagePart(PNG))),
    )
    assert (chat.model, chat.stream, chat.ignored) == ("bench/core", True, ())


def test_a_string_is_one_message():
    assert parse(input="hi").messages == (Message("user", (TextPart("hi"),)),)


def test_what_a_panel_does_not_pass_on_is_named():
    chat = parse(
        store=True,
        temperature=0.2,
        max_output_tokens=5,
        text={"format": {"type": "json_object"}},
        reasoning={"effort": "low"},
        include=["reasoning.encrypted_content"],
        user=None,
        tools=[],
        tool_choice="auto",
        background=False,
    )
    assert set(chat.ignored) == {"store", "temperature", "max_output_tokens", "text", "reasoning", "include"}


def test_who_asks_that_nothing_be_stored_has_not_been_ignored():
    assert parse(store=False).ignored == ()
    assert parse(store="no").ignored == ("store",)


def test_reasoning_of_earlier_turns_is_left_out_and_named():
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    chat = parse(input=[HI, thought, {"role": "assistant", "content": "Yes."}, thought, HI], seed=1)
    assert [message.text for message in chat.messages] == ["hi", "Yes.", "hi"]
    assert chat.ignored == ("seed", "input.reasoning")
    with pytest.raises(BadRequest, match="at least one message"):
        parse(input=[thought])


@pytest.mark.parametrize("kind", ["function", "custom", "web_search", "file_search", "mcp", "code_interpreter", "shell"])
def test_tools_of_every_kind_are_refused(kind):
    with pytest.raises(BadRequest, match=r"cannot run tools.*put what they would return into the prompt.*is coming") as refusal:
        parse(tools=[{"type": kind}])
    assert refusal.value.param == "tools"


@pytest.mark.parametrize(
    "kind",
    [
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "web_search_call",
        "computer_call_output",
        "local_shell_call",
        "tool_search_output",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "additional_tools",
        "program",
        "program_output",
    ],
)
def test_items_of_tools_are_refused(kind):
    with pytest.raises(BadRequest, match="cannot run tools") as refusal:
        parse(input=[HI, {"type": kind, "id": "x", "role": "developer", "call_id": "c", "output": "x"}])
    assert refusal.value.param == "input[1].type"


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id", "Send the whole conversation as input"),
        ({"conversation": "conv_1"}, "conversation", "Send its messages as input"),
        ({"conversation": {"id": "conv_1"}}, "conversation", "Send its messages as input"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt", "Send its text"),
        ({"background": True}, "background", "Leave background out"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type", "Send the item itself"),
        ({"input": [HI, {"id": "msg_1"}]}, "input[1].type", "Send the item itself"),
        ({"input": [HI, {"id": "msg_1", "type": None}]}, "input[1].type", "Send the item itself"),
    ],
)
def test_what_is_stored_nowhere_is_refused_with_what_to_send(fields, param, words):
    with pytest.raises(BadRequest, match=words) as refusal:
        parse(**fields)
    assert refusal.value.param == param


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_file", "file_id": "file-1"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
        {"type": "input_file", "file_url": "https://x.example/a.pdf"},
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_image", "file_id": "file-1", "image_url": PNG},
        {"type": "input_image", "image_url": "ftp://x.example/a.png"},
        {"type": "input_image", "image_url": "data:application/pdf;base64,JVBERi0="},
        {"type": "input_image", "image_url": {"url": PNG}},
        {"type": "input_image"},
        {"type": "input_text"},
        {"type": "output_text", "text": 5},
        {"type": "refusal", "text": "x"},
        {},
        "text",
    ],
)
def test_parts_that_cannot_go_to_a_panel_are_refused(part):
    with pytest.raises(BadRequest) as refusal:
        parse(input=[{"role": "user", "content": [part]}])
    assert refusal.value.param.startswith("input[0].content[0]")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": 5}, "model"),
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": 5}, "input"),
        ({"input": {}}, "input"),
        ({"input": [None]}, "input[0]"),
        ({"input": ["hi"]}, "input[0]"),
        ({"input": [{"content": "hi"}]}, "input[0].role"),
        ({"input": [{"role": "tool", "content": "hi"}]}, "input[0].role"),
        ({"input": [{"role": 5, "content": "hi"}]}, "input[0].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": []}]}, "input[0].content"),
        ({"input": [{"type": 5, "role": "user", "content": "hi"}]}, "input[0].type"),
        ({"input": [{"type": "compaction", "encrypted_content": "x"}]}, "input[0].type"),
        ({"instructions": []}, "instructions"),
        ({"stream": "yes"}, "stream"),
        ({"background": "yes"}, "background"),
        ({"tools": {}}, "tools"),
        ({"bench": []}, "bench"),
        ({"with": "fast"}, "with"),
    ],
)
def test_a_wrong_type_is_refused_by_the_name_of_its_field(fields, param):
    with pytest.raises(BadRequest) as refusal:
        parse(**fields)
    assert refusal.value.param == param
    assert param.partition("[")[0] in refusal.value.message


@pytest.mark.parametrize("payload", [None, [], "x", 5, True])
def test_a_body_that_is_no_object_is_refused(payload):
    with pytest.raises(BadRequest, match="must be an object"):
        openai_responses.parse_request(payload, ROUTE)


def test_a_count_takes_tools_but_nothing_that_is_stored():
    assert parse(COUNT, tools=[{"type": "function", "name": "f"}]).messages == parse().messages
    with pytest.raises(BadRequest):
        parse(COUNT, previous_response_id="resp_1")
    assert openai_responses.render_count(7) == {"object": "response.input_tokens", "input_tokens": 7}


def test_the_reply_is_whole_and_carries_bench_unless_told_not_to():
    body = openai_responses.render_reply(panel_reply(), ROUTE).body
    assert body.pop("bench")["seats"][0]["answer"] == "Yes."
    assert body == {
        "id": "resp_p1",
        "object": "response",
        "created_at": 1,
        "model": "bench/core",
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "output": [
            {
                "id": "msg_p1",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "# bench/core", "annotations": [], "logprobs": []}],
            }
        ],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 2,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 3,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 5,
        },
        "user": None,
    }
    assert "bench" not in openai_responses.render_reply(panel_reply(field=False), ROUTE).body
    assert Response.model_validate(body, strict=True).output_text == "# bench/core"


def test_a_stream_has_the_order_the_numbers_and_the_names_that_the_helpers_insist_on():
    encoder = openai_responses.stream_encoder(parse(stream=True), ROUTE)
    read = events(*encoder.start(), *encoder.text("# bench"), *encoder.text("/as it came"), *encoder.finish(panel_reply()))
    assert [event["type"].removeprefix("response.") for event in read] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert [event["sequence_number"] for event in read] == list(range(10))
    created, completed = read[0]["response"], read[-1]["response"]
    assert (created["status"], created["output"], created["usage"]) == ("in_progress", [], None)
    assert {response[name] for response in (created, completed) for name in ("id", "created_at", "model")} == {
        created["id"],
        created["created_at"],
        "bench/core",
    }
    assert (read[2]["item"]["status"], read[2]["item"]["content"]) == ("in_progress", [])
    assert {event["item_id"] for event in read[3:8]} == {read[2]["item"]["id"], read[8]["item"]["id"]}
    assert [event["output_index"] for event in read[2:9]] == [0] * 7
    assert [event["content_index"] for event in read[3:8]] == [0] * 5
    assert [event["logprobs"] for event in read[4:7]] == [[]] * 3
    assert read[6]["text"] == read[7]["part"]["text"] == "# bench/as it came"
    assert completed["output"] == [read[8]["item"]]
    assert (completed["status"], completed["usage"]["total_tokens"]) == ("completed", 5)
    assert completed["bench"]["panel"] == "p1"
    last = encoder.finish(panel_reply(field=False))[-1]
    assert "bench" not in events(last)[0]["response"]


def test_a_stream_is_ascii_and_keeps_alive_with_a_comment():
    encoder = openai_responses.stream_encoder(parse(stream=True), ROUTE)
    assert all(event.isascii() for event in (*encoder.text("é\u2028汉"), *encoder.finish(panel_reply())))
    assert all(re.fullmatch(rb":[^\n]*\n\n", event) for event in encoder.keepalive())


@pytest.mark.parametrize(
    ("status", "code", "kind"), [(502, "server_error", "api_error"), (429, "rate_limit_exceeded", "requests")]
)
def test_a_failed_stream_says_so_flat_and_nested_and_then_that_the_response_failed(status, code, kind):
    encoder = openai_responses.stream_encoder(parse(stream=True), ROUTE)
    encoder.start()
    encoder.text("## member · broken")
    error, failed = events(*encoder.error(status, "Nobody answered.", bench={"panel": "p1"}))
    assert error == {
        "type": "error",
        "sequence_number": 5,
        "code": code,
        "message": "Nobody answered.",
        "param": None,
        "error": {"message": "Nobody answered.", "type": kind, "param": None, "code": None if status == 502 else code},
    }
    response = failed["response"]
    assert (failed["sequence_number"], response["status"], response["usage"]) == (6, "failed", None)
    assert response["error"] == {"code": code, "message": "Nobody answered."}
    assert response["output"][0]["status"] == "incomplete"
    assert response["output"][0]["content"][0]["text"] == "## member · broken"
    assert response["bench"] == {"panel": "p1"}
