"""A model behind Anthropic Messages is asked through a real socket, as the format has it, and its answer comes back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.chat import ImagePart, Message, TextPart
from gateway.tests.native_upstream import QUESTION, NativeUpstream, Scripted
from gateway.upstream import PROTOCOLS
from gateway.upstream.anthropic_messages import DEFAULT_MAX_TOKENS, parse_stream
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.upstream.sse import lines
from gateway.wire import anthropic_messages as wire

KEY = "9f8e7d6c5b4aQWERTYUIOP"


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def delta(kind: str, index: int = 0, **fields: Any) -> bytes:
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


def start(index: int = 0, **block: Any) -> bytes:
    return event("content_block_start", index=index, content_block=block)


def ended(reason: str, **usage: int) -> bytes:
    return event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)


BEGUN = event("message_start", message={"model": "served", "content": [], "usage": {"input_tokens": 7, "output_tokens": 1}})
PING = event("ping")
STOP = event("message_stop")
ANSWER = start(type="text", text="") + delta("text_delta", text="The answer") + PING + delta("text_delta", text=" is 42.")
OVERLOADED = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
STREAMS = {
    "ok": BEGUN + PING + ANSWER + event("content_block_stop", index=0) + ended("end_turn", output_tokens=5) + STOP,
    "thinking": BEGUN
    + start(type="thinking", thinking="", signature="")
    + delta("thinking_delta", thinking="Six times ")
    + delta("thinking_delta", thinking="seven.")
    + delta("signature_delta", signature="c2ln")
    + start(1, type="redacted_thinking", data="eA==")
    + ANSWER
    + ended("end_turn", output_tokens=9)
    + STOP,
    "cached": event(
        "message_start",
        message={"usage": {"input_tokens": 7, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300}},
    )
    + ANSWER
    + ended("end_turn", input_tokens=0, output_tokens=5)
    + STOP,
    "late-count": event("message_start", message={"usage": {"input_tokens": 0}})
    + ANSWER
    + ended("end_turn", input_tokens=11, output_tokens=5)
    + STOP,
    "cut-words": BEGUN + ANSWER + ended("max_tokens", output_tokens=5) + STOP,
    "no-names": b"\n".join(line for line in (BEGUN + ANSWER + ended("end_turn") + STOP).split(b"\n") if line[:1] != b"e"),
    "no-types": (BEGUN + ANSWER + ended("end_turn") + STOP).replace(b'"type": "content_block_delta", ', b""),
    "crlf": (BEGUN + ANSWER + ended("end_turn") + STOP).replace(b"\n", b"\r\n"),
    "no-stop": BEGUN + ANSWER + ended("end_turn"),
    "no-reason": BEGUN + ANSWER + STOP,
    "done": BEGUN + ANSWER + ended("end_turn") + b"data: [DONE]\n\n",
    "news": BEGUN + event("content_block_mood", mood="fine") + b"event: x\ndata: soon\n\n" + ANSWER + STOP,
    "budget": BEGUN + start(type="thinking", thinking="Hm") + ended("max_tokens") + STOP,
    "tool": BEGUN + start(type="tool_use", id="t", name="f", input={}) + ended("end_turn") + STOP,
    "refusal": BEGUN
    + event("message_delta", delta={"stop_reason": "refusal", "stop_details": {"type": "refusal", "explanation": "Not that."}})
    + STOP,
    "filtered": BEGUN + ended("refusal") + STOP,
    "empty": BEGUN + ended("end_turn") + STOP,
    "cut-off": BEGUN + ANSWER,
    "overloaded": BEGUN + ANSWER + OVERLOADED,
    "malformed": BEGUN + ANSWER + b'event: content_block_delta\ndata: {"type": oops\n\n' + STOP,
    "plain-error": BEGUN + ANSWER + b"event: error\ndata: boom\n\n",
}
REPLY = {
    "type": "message",
    "role": "assistant",
    "model": "served",
    "content": [
        {"type": "thinking", "thinking": "Six times seven.", "signature": "s"},
        {"type": "text", "text": "The answer "},
        {"type": "text", "text": "is 42."},
    ],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 7, "output_tokens": 5},
}


def error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


BODIES: dict[str, tuple[int, dict[str, str], Any]] = {
    "json-body": (200, {}, REPLY),
    "json-string": (200, {}, REPLY | {"content": "The answer is 42."}),
    "json-empty": (200, {}, REPLY | {"content": []}),
    "json-error": (200, {}, error("overloaded_error", "Overloaded")),
    "json-strange": (200, {}, {"choices": []}),
    "err-400": (400, {}, error("invalid_request_error", "max_tokens: Field required")),
    "err-long": (400, {}, error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
    "err-credit": (400, {}, error("invalid_request_error", "Your credit balance is too low to access the API.")),
    "err-401": (401, {}, error("authentication_error", "invalid x-api-key")),
    "err-403": (403, {}, error("permission_error", "Your key may not use this model")),
    "err-404": (404, {}, error("not_found_error", "model: err-404")),
    "err-413": (413, {}, error("request_too_large", "Request exceeds the maximum size")),
    "err-429": (429, {"retry-after": "20"}, error("rate_limit_error", "This request would exceed your rate limit")),
    "err-500": (500, {}, error("api_error", "Internal server error")),
    "err-529": (529, {}, error("overloaded_error", "Overloaded")),
}


REPLIES = {model: Scripted(body, headers={"Content-Type": "text/event-stream"}) for model, body in STREAMS.items()} | {
    model: Scripted(json.dumps(payload).encode(), status, headers) for model, (status, headers, payload) in BODIES.items()
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[NativeUpstream]:
    with NativeUpstream("anthropic_messages", REPLIES, base="/v1") as server:
        yield server


def test_a_streamed_answer_comes_back_whole(upstream: NativeUpstream) -> None:
    completion = upstream.ask("ok")
    assert completion == Completion(
        text="The answer is 42.",
        finish_reason="end_turn",
        model="served",
        input_tokens=7,
        output_tokens=5,
        first_token_seconds=completion.first_token_seconds,
    )
    assert completion.first_token_seconds is not None


def test_the_request_is_what_the_provider_documents(upstream: NativeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", KEY)
    upstream.ask("ok", api_key_env="FAKE_KEY")
    sent = upstream.received[-1]
    assert sent.path == "/v1/messages"
    assert sent.body == {
        "model": "ok",
        "max_tokens": DEFAULT_MAX_TOKENS,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "What is the answer?"}],
        "stream": True,
    }
    assert (sent.headers["x-api-key"], sent.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in sent.headers
    upstream.ask("ok")
    assert "x-api-key" not in upstream.received[-1].headers


def build(asked: list[Message], **options: Any) -> dict[str, Any]:
    return PROTOCOLS["anthropic_messages"].build_request("m", asked, options)


def test_options_are_the_models_but_not_what_is_asked_of_whom() -> None:
    options = {
        "max_tokens": 9,
        "temperature": 0.2,
        "top_k": None,
        "stream": False,
        "model": "other",
        "messages": [],
        "system": "x",
    }
    assert build([QUESTION[1]], **options) == {
        "max_tokens": 9,
        "temperature": 0.2,
        "model": "m",
        "messages": [{"role": "user", "content": "What is the answer?"}],
        "stream": True,
    }
    assert build([QUESTION[1]], max_completion_tokens=9)["max_tokens"] == 9


def said(role: Any, *texts: str) -> Message:
    return Message(role, tuple(TextPart(text) for text in texts))


def test_system_text_goes_to_the_front_and_turns_alternate() -> None:
    body = build(
        [
            said("system", "One."),
            said("user", "a"),
            said("user", "b", "c"),
            said("assistant", "d"),
            said("system", "Two.", "Three."),
            said("assistant", "e"),
            said("user", "  ", "f"),
            said("user", ""),
        ]
    )
    assert body["system"] == "One.\n\nTwo.\n\nThree."
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": text} for text in "abc"]},
        {"role": "assistant", "content": [{"type": "text", "text": text} for text in "de"]},
        {"role": "user", "content": "f"},
    ]


def test_system_text_alone_is_asked_as_a_user_would() -> None:
    body = build([said("system", "Write a poem.")])
    assert (body["messages"], "system" in body) == ([{"role": "user", "content": "Write a poem."}], False)


def test_images_are_sent_as_data_or_by_url() -> None:
    seen = Message("user", (TextPart("What?"), ImagePart("data:image/PNG;x=y;base64,iVBORw0KGgo=")))
    beside = Message("system", (TextPart("See."), ImagePart("https://p.example/a?s=1")))
    jpeg = Message("user", (ImagePart("data:image/jpg;base64,/9j/"),))
    body = build([seen, said("assistant", "It?"), beside, jpeg])
    assert body["system"] == "See."
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "What?"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
    ]
    assert [block["source"] for block in body["messages"][2]["content"]] == [
        {"type": "url", "url": "https://p.example/a?s=1"},
        {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"},
    ]


def test_what_is_sent_is_what_our_own_route_reads() -> None:
    conversation = (
        QUESTION[0],
        Message("user", (TextPart("Look:"), ImagePart("data:image/png;base64,iVBORw0KGgo="))),
        said("assistant", "Where?"),
        Message("user", (ImagePart("https://p.example/a.png"), TextPart("There."))),
    )
    assert wire.parse_request(build(list(conversation)), wire.ROUTES[0]).messages == conversation


@pytest.mark.parametrize(
    ("model", "reasoning", "reason", "tokens"),
    [
        ("thinking", "Six times seven.", "end_turn", (7, 9)),
        ("cached", "", "end_turn", (327, 5)),
        ("late-count", "", "end_turn", (11, 5)),
        ("cut-words", "", "max_tokens", (7, 5)),
        ("no-names", "", "end_turn", (7, None)),
        ("no-types", "", "end_turn", (7, None)),
        ("crlf", "", "end_turn", (7, None)),
        ("no-stop", "", "end_turn", (7, None)),
        ("no-reason", "", "", (7, None)),
        ("done", "", "end_turn", (7, None)),
        ("news", "", "", (7, None)),
        ("json-body", "Six times seven.", "end_turn", (7, 5)),
        ("json-string", "", "end_turn", (7, 5)),
    ],
)
def test_every_way_to_send_an_answer_is_read(
    upstream: NativeUpstream, model: str, reasoning: str, reason: str, tokens: tuple[int | None, int | None]
) -> None:
    completion = upstream.ask(model)
    assert (completion.text, completion.reasoning, completion.finish_reason) == ("The answer is 42.", reasoning, reason)
    assert (completion.input_tokens, completion.output_tokens) == tokens


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("budget", "it spent its whole budget thinking (finish reason max_tokens): raise its max_tokens"),
        ("tool", "it called a tool instead of answering"),
        ("refusal", "the model refused: Not that."),
        ("filtered", "the provider's filter stopped it (finish reason refusal)"),
        ("empty", "nothing came"),
        ("json-empty", "nothing came"),
    ],
)
def test_an_empty_answer_says_why(upstream: NativeUpstream, model: str, why: str) -> None:
    completion = upstream.ask(model)
    assert (completion.text, completion.empty_why) == ("", why)


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        ("cut-off", "bad_reply", "ended early"),
        ("overloaded", "overloaded", "Overloaded"),
        ("malformed", "bad_reply", "malformed"),
        ("plain-error", "bad_reply", "boom"),
    ],
)
def test_a_stream_that_fails_says_how_and_keeps_what_came(upstream: NativeUpstream, model: str, kind: str, words: str) -> None:
    with pytest.raises(UpstreamError, match=words) as failed:
        upstream.ask(model)
    assert (failed.value.kind, failed.value.partial) == (kind, "The answer is 42.")


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        ("err-400", "refused", "Field required"),
        ("err-long", "context_too_long", "200000"),
        ("err-credit", "payment_required", "too low"),
        ("err-401", "unauthorized", "x-api-key"),
        ("err-403", "unauthorized", "may not use"),
        ("err-404", "maybe_gone", "err-404"),
        ("err-413", "context_too_long", "maximum size"),
        ("err-429", "rate_limited", "rate limit"),
        ("err-500", "unavailable", "Internal"),
        ("err-529", "overloaded", "Overloaded"),
        ("json-error", "overloaded", "Overloaded"),
        ("json-strange", "bad_reply", "an error"),
    ],
)
def test_a_failure_is_classified_in_words_for_people(upstream: NativeUpstream, model: str, kind: str, words: str) -> None:
    with pytest.raises(UpstreamError, match=words) as failed:
        upstream.ask(model)
    assert failed.value.kind == kind
    assert failed.value.retry_after == (20 if model == "err-429" else None)
    assert failed.value.window == (200_000 if model == "err-long" else None)


def test_the_last_word_of_openais_streams_is_passed_over() -> None:
    assert list(parse_stream(lines([STREAMS["done"]])))[-1] == Delta(finish_reason="end_turn")


def test_it_does_not_matter_where_the_network_cuts() -> None:
    text = json.dumps({"type": "content_block_delta", "delta": {"text": "Žluť 🐎"}}, ensure_ascii=False)
    raw = BEGUN + f"event: content_block_delta\r\ndata: {text}\r\n\r\n".encode() + ended("end_turn") + STOP
    whole = list(parse_stream(lines([raw])))
    assert Delta(text="Žluť 🐎") in whole
    for at in range(len(raw)):
        assert list(parse_stream(lines([raw[:at], raw[at:]]))) == whole, f"cut at {at}"


WRONG = [None, 5, True, "x", [], {}, [None], {"text": 5, "type": []}, {"usage": [], "thinking": {}}]


@pytest.mark.parametrize("value", WRONG)
def test_no_shape_whatever_breaks_the_reader(value: Any) -> None:
    protocol = PROTOCOLS["anthropic_messages"]
    pieces = [
        event("message_start", message=value),
        event("content_block_start", content_block=value),
        event("content_block_delta", delta=value),
        event("message_delta", delta=value, usage=value),
        event("message_delta", delta={"stop_reason": value}, usage={"output_tokens": value, "input_tokens": 2**40}),
    ]
    read = list(protocol.parse_stream(lines([*pieces, STOP])))
    assert not any(delta.input_tokens for delta in read)
    for payload in (value, {"content": value}, {"content": [value], "usage": value}):
        try:
            protocol.parse_reply(payload)
        except UpstreamError as failed:
            assert failed.message
