"""Legacy completions read and written: one prompt, what is refused and how, what is ignored and named."""

import json

import pytest

from gateway.chat import Message, TextPart
from gateway.errors import BadRequest
from gateway.tests.replies import panel_reply
from gateway.wire import openai_completions

ROUTE = openai_completions.ROUTES[0]


def parse(**fields):
    return openai_completions.parse_request({"model": "bench/core", "prompt": "hi"} | fields, ROUTE)


def events(chunks) -> list:
    return [json.loads(chunk.removeprefix(b"data: ")) for chunk in chunks if chunk.startswith(b"data: {")]


@pytest.mark.parametrize("prompt", ["Why?\n", ["Why?\n"]])
def test_one_prompt_is_one_message(prompt):
    chat = parse(prompt=prompt, stream=True, stream_options={"include_usage": True})
    assert chat.messages == (Message("user", (TextPart("Why?\n"),)),)
    assert (chat.model, chat.stream, chat.include_usage, chat.ignored) == ("bench/core", True, True, ())


def test_what_a_panel_does_not_pass_on_is_named():
    chat = parse(echo=True, suffix="}", best_of=2, n=2, logprobs=5, max_tokens=16, user=None, tools=[], tool_choice="none")
    assert set(chat.ignored) == {"echo", "suffix", "best_of", "n", "logprobs", "max_tokens"}


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        (None, "must hold the text"),
        ([], "must hold the text"),
        (["a", "b"], "holds 2 prompts; a panel answers one"),
        ([1, 2, 3], "token ids.*Send the text"),
        ([[1, 2], [3]], "token ids.*Send the text"),
        ([[1, 2]], "token ids.*Send the text"),
        (5, "must be a string, not a number"),
        ({"text": "a"}, "must be a string, not an object"),
        ([None], "not a list that holds null"),
        (["a", 5], "not a list that holds a number"),
        ([True], "not a list that holds true or false"),
        ([["a"]], "not a list that holds a list"),
    ],
)
def test_anything_but_one_text_is_refused_with_what_to_send(prompt, words):
    with pytest.raises(BadRequest, match=words) as refusal:
        parse(prompt=prompt)
    assert refusal.value.param == "prompt"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"functions": [{"name": "f"}]}, "functions"),
        ({"model": 5}, "model"),
        ({"stream": 1}, "stream"),
        ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        ({"bench": {"felid": False}}, "bench.felid"),
        ({"with": [5]}, "with[0]"),
    ],
)
def test_a_wrong_field_is_refused_by_its_name(fields, param):
    with pytest.raises(BadRequest) as refusal:
        parse(**fields)
    assert refusal.value.param == param


@pytest.mark.parametrize("payload", [None, [], "x", 5, True])
def test_a_body_that_is_no_object_is_refused(payload):
    with pytest.raises(BadRequest, match="must be an object"):
        openai_completions.parse_request(payload, ROUTE)


def test_the_reply_carries_bench_unless_told_not_to():
    body = openai_completions.render_reply(panel_reply(), ROUTE).body
    assert body.pop("bench")["seats"][0]["answer"] == "Yes."
    assert body == {
        "id": "cmpl-p1",
        "object": "text_completion",
        "created": 1,
        "model": "bench/core",
        "choices": [{"text": "# bench/core", "index": 0, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5},
    }
    assert "bench" not in openai_completions.render_reply(panel_reply(field=False), ROUTE).body


def test_a_streams_chunks_have_text_always_and_bench_with_the_finish_reason():
    encoder = openai_completions.stream_encoder(parse(stream=True, stream_options={"include_usage": True}), ROUTE)
    written = [*encoder.start(), *encoder.text("a\u2028"), *encoder.finish(panel_reply())]
    chunks = events(written)
    assert len({(chunk["id"], chunk["created"], chunk["model"], chunk["object"]) for chunk in chunks}) == 1
    assert chunks[0]["object"] == "text_completion"
    assert [chunk["choices"][0]["text"] for chunk in chunks[:2]] == ["a\u2028", ""]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:2]] == [None, "stop"]
    assert ["bench" in chunk for chunk in chunks] == [False, True, False]
    assert (chunks[2]["choices"], chunks[2]["usage"]["total_tokens"]) == ([], 5)
    assert written[-1] == b"data: [DONE]\n\n"
    assert all(event.isascii() and event.endswith(b"\n\n") for event in written)
    assert len(events(openai_completions.stream_encoder(parse(stream=True), ROUTE).finish(panel_reply(field=False)))) == 1


def test_what_is_sent_before_the_first_text_is_a_comment():
    encoder = openai_completions.stream_encoder(parse(stream=True), ROUTE)
    for event in (*encoder.start(), *encoder.keepalive()):
        assert event.startswith(b":")
        assert event.count(b"\n") == 2
        assert event.endswith(b"\n\n")


def test_a_failed_stream_ends_in_an_error_and_never_in_done():
    encoder = openai_completions.stream_encoder(parse(stream=True), ROUTE)
    (body,) = events(encoder.error(502, "Nobody answered.", bench={"panel": "p1"}))
    assert body["error"] == {"message": "Nobody answered.", "type": "api_error", "param": None, "code": None}
    assert body["bench"] == {"panel": "p1"}
