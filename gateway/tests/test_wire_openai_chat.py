"""OpenAI chat completions read and written: what is understood, what is refused and how, what is ignored and named."""

import json
from urllib.parse import unquote

import pytest

from gateway.chat import ImagePart, TextPart
from gateway.errors import BadRequest
from gateway.redact import hide_images, redact
from gateway.tests.replies import panel_reply
from gateway.wire import openai_chat

ROUTE = openai_chat.ROUTES[0]
HI = {"role": "user", "content": "hi"}
PNG = "data:image/png;base64,iVBORw0KGgo="


def parse(**fields):
    return openai_chat.parse_request({"model": "bench/core", "messages": [HI]} | fields, ROUTE)


def events(chunks) -> list:
    return [json.loads(chunk.removeprefix(b"data: ")) for chunk in chunks if chunk != b"data: [DONE]\n\n"]


def test_a_conversation_is_read_in_order():
    chat = parse(
        messages=[
            {"role": "developer", "content": "Be brief."},
            HI,
            {"role": "assistant", "content": None, "refusal": "No."},
            {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": PNG}}]},
        ],
        stream=True,
        stream_options={"include_usage": True},
    )
    assert [message.role for message in chat.messages] == ["system", "user", "assistant", "user"]
    assert chat.messages[2].parts == (TextPart("No."),)
    assert chat.messages[3].parts == (TextPart("look"), ImagePart(PNG))
    assert (chat.model, chat.stream, chat.include_usage, chat.ignored) == ("bench/core", True, True, ())


def test_an_image_url_may_be_a_bare_string():
    chat = parse(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": "https://x.example/a.png"}]}])
    assert chat.messages[0].parts == (ImagePart("https://x.example/a.png"),)


@pytest.mark.parametrize("mark", ["'", " ", '"', "\\", "\n", "<", "\u3000"])
def test_nothing_of_an_images_url_is_left_where_it_is_hidden(mark):
    sent = f"https://x.example/o{mark}hara.png?sig=A{mark}SECRET"
    chat = parse(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": sent}}]}])
    (url,) = chat.image_urls
    assert unquote(url) == sent
    for words in (f"I see {url}, and it is nice.", json.dumps({"url": url}), str({"url": url})):
        assert "SECRET" not in hide_images(words, chat.image_urls)
        assert "SECRET" not in redact(words)


def test_a_chat_never_prints_its_image():
    secret = "A" * 400
    chat = parse(
        messages=[{"role": "user", "content": [{"type": "image_url", "image_url": f"data:image/png;base64,{secret}"}]}]
    )
    assert secret not in repr(chat)
    assert secret not in chat.text
    assert "[image: data URL" in chat.text


def test_what_a_panel_does_not_pass_on_is_named():
    chat = parse(temperature=0.2, max_tokens=5, n=2, user=None, tools=[], tool_choice="auto", seed=1)
    assert set(chat.ignored) == {"temperature", "max_tokens", "n", "seed"}


def test_more_messages_or_parts_than_any_conversation_has_are_refused():
    for messages in ([HI] * 10_001, [{"role": "user", "content": [{"type": "text", "text": "x"}] * 10_001}]):
        with pytest.raises(BadRequest, match="10,000 is the most"):
            parse(messages=messages)


def test_a_speakers_name_is_named_as_ignored():
    assert parse(messages=[HI | {"name": "ada"}]).ignored == ("messages.name",)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_details"])
def test_a_models_own_earlier_reasoning_is_left_out_and_named(name):
    chat = parse(messages=[HI, {"role": "assistant", "content": "Yes.", name: "Ada says so."}, HI | {name: None}])
    assert chat.ignored == (f"messages.{name}",)
    assert "Ada" not in chat.text


def test_the_benchs_own_settings_are_read_from_both_places():
    options = parse(**{"with": ["a"], "bench": {"with": ["b"], "reply": "merged", "merger": "c", "field": False}}).bench
    assert (options.nominated, options.reply, options.merger, options.field) == (("a", "b"), "merged", "c", False)


def test_each_place_holds_so_many_nominations_whatever_the_other_does():
    names = [f"a{number}" for number in range(20)]
    assert len(parse(**{"with": names, "bench": {"with": names}}).bench.nominated) == 40
    for where, fields in (("with", {"with": [*names, "b"]}), ("bench.with", {"bench": {"with": [*names, "b"]}})):
        with pytest.raises(BadRequest, match="names 21 models; 20 is the most") as refused:
            parse(**fields)
        assert refused.value.param == where


TOOL = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [TOOL]},
        {"functions": [{"name": "f"}]},
        {"messages": [HI, {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}]},
        {"messages": [HI, {"role": "assistant", "content": None, "function_call": {"name": "f"}}]},
        {"messages": [HI, {"role": "tool", "tool_call_id": "1", "content": "x"}]},
        {"messages": [HI, {"role": "function", "name": "f", "content": "x"}]},
    ],
)
def test_tools_are_refused_and_the_refusal_says_what_to_send(fields):
    with pytest.raises(BadRequest, match=r"cannot run tools.*put what they would return into the prompt.*is coming"):
        parse(**fields)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "image_url", "image_url": {"url": "ftp://x.example/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:application/pdf;base64,JVBERi0="}},
        {"type": "image_url", "image_url": {"url": "file-1234"}},
        {"type": "image_url"},
        {"type": "text"},
        {"type": "text", "text": 5},
        {},
        "text",
    ],
)
def test_parts_that_cannot_go_to_a_panel_are_refused(part):
    with pytest.raises(BadRequest) as refusal:
        parse(messages=[{"role": "user", "content": [part]}])
    assert refusal.value.param.startswith("messages[0].content[0]")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": 5}, "model"),
        ({"model": ["bench/core"]}, "model"),
        ({"messages": []}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": [None]}, "messages[0]"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "robot", "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": 5, "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
        ({"stream": "yes"}, "stream"),
        ({"stream": 1}, "stream"),
        ({"stream_options": []}, "stream_options"),
        ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        ({"tools": {}}, "tools"),
        ({"bench": []}, "bench"),
        ({"bench": {"reply": "banana"}}, "bench.reply"),
        ({"bench": {"reply": 1}}, "bench.reply"),
        ({"bench": {"field": "no"}}, "bench.field"),
        ({"bench": {"felid": False}}, "bench.felid"),
        ({"with": "fast"}, "with"),
        ({"with": [5]}, "with[0]"),
        ({"with": ["a"] * 21}, "with"),
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
        openai_chat.parse_request(payload, ROUTE)


def test_the_reply_carries_bench_unless_told_not_to():
    body = openai_chat.render_reply(panel_reply(), ROUTE).body
    assert body["choices"][0]["message"]["content"] == "# bench/core"
    assert body["usage"] == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    assert body["bench"]["seats"][0]["answer"] == "Yes."
    assert "bench" not in openai_chat.render_reply(panel_reply(field=False), ROUTE).body


def test_a_stream_names_the_role_once_and_puts_bench_on_the_finish_reason():
    encoder = openai_chat.stream_encoder(parse(stream=True, stream_options={"include_usage": True}), ROUTE)
    chunks = events([*encoder.start(), *encoder.text("a\u2028"), *encoder.finish(panel_reply())])
    assert [chunk["choices"][0]["delta"].get("role") for chunk in chunks[:3]] == ["assistant", None, None]
    assert len({(chunk["id"], chunk["created"], chunk["model"], chunk["object"]) for chunk in chunks}) == 1
    assert chunks[2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[2]["bench"]["panel"] == "p1"
    assert chunks[3]["choices"] == []
    assert chunks[3]["usage"]["total_tokens"] == 5
    assert encoder.finish(panel_reply())[-1] == b"data: [DONE]\n\n"


def test_a_stream_is_ascii_and_keeps_alive_with_a_comment():
    encoder = openai_chat.stream_encoder(parse(stream=True), ROUTE)
    assert all(event.isascii() for event in encoder.text("é\u2028汉"))
    assert all(event.startswith(b":") and event.endswith(b"\n\n") for event in encoder.keepalive())


def test_a_failed_stream_ends_in_an_error_and_never_in_done():
    encoder = openai_chat.stream_encoder(parse(stream=True), ROUTE)
    (event,) = encoder.error(502, "Nobody answered.", bench={"panel": "p1"})
    body = events([event])[0]
    assert body["error"]["message"] == "Nobody answered."
    assert body["bench"] == {"panel": "p1"}


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", None),
        (401, "invalid_request_error", "invalid_api_key"),
        (429, "requests", "rate_limit_exceeded"),
        (500, "server_error", None),
        (502, "api_error", None),
    ],
)
def test_errors_have_openais_four_fields(status, kind, code):
    assert openai_chat.render_error(status, "Why.") == {"error": {"message": "Why.", "type": kind, "param": None, "code": code}}
