"""A model behind OpenAI Responses is asked through a real socket: what is sent, and whatever comes back."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.chat import ImagePart, Message, TextPart
from gateway.tests.native_upstream import QUESTION, NativeUpstream, Scripted
from gateway.upstream import PROTOCOLS
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.upstream.openai_responses import parse_reply, parse_stream
from gateway.upstream.sse import lines

KEY = "9f8e7d6c5b4aQWERTYUIOP"
TEXT = "Žluťoučký 🐎 你好\u2028"
USAGE = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12, "output_tokens_details": {"reasoning_tokens": 3}}


def event(kind: str, *, named: bool = True, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False).encode()
    return (b"event: " + kind.encode() + b"\n" if named else b"") + b"data: " + data + b"\n\n"


def response(*output: Any, status: str = "completed", **fields: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "m-2026-01-01",
        "output": list(output),
        "error": None,
        "incomplete_details": None,
        "text": {"format": {"type": "text"}},
        "usage": USAGE,
    } | fields


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": list(parts)}


def said(text: str) -> dict[str, Any]:
    return message({"type": "output_text", "text": text, "annotations": [], "logprobs": []})


def thought(**fields: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs_1", "summary": [], **fields}


def begun(**fields: Any) -> bytes:
    started = response(status="in_progress", usage=None)
    return event("response.created", response=started, **fields) + event("response.in_progress", response=started, **fields)


def delta(text: str, kind: str = "output_text", **fields: Any) -> bytes:
    return event(f"response.{kind}.delta", item_id="msg_1", output_index=0, content_index=0, delta=text, **fields)


def end(*output: Any, kind: str = "completed", **fields: Any) -> bytes:
    return event(f"response.{kind}", response=response(*output, status=kind, **fields))


ANSWER = "The answer is 42."
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"}
SUMMARY = [{"type": "summary_text", "text": "Six times"}, {"type": "summary_text", "text": "seven."}]
WHOLE = (
    begun()
    + event("response.output_item.added", output_index=0, item=message() | {"status": "in_progress"})
    + event("response.content_part.added", item_id="msg_1", part={"type": "output_text", "text": "", "annotations": []})
    + delta("The answer ")
    + delta("is 42.")
    + event("response.output_text.done", item_id="msg_1", text=ANSWER)
    + event("response.content_part.done", item_id="msg_1", part={"type": "output_text", "text": ANSWER, "annotations": []})
    + event("response.output_item.done", output_index=0, item=said(ANSWER))
    + end(said(ANSWER))
)
# As llama.cpp sends it: no index, no number, no model until the end.
LLAMA_CPP = (
    event("response.created", response={"id": "resp_P", "object": "response", "status": "in_progress"})
    + event("response.output_item.added", item=message() | {"status": "in_progress"})
    + event("response.output_text.delta", item_id="msg_1", delta="The answer")
    + event("response.output_text.delta", item_id="msg_1", delta=" is 42.")
    + event(
        "response.completed",
        response={
            "id": "resp_P",
            "object": "response",
            "status": "completed",
            "model": "m-2026-01-01",
            "output": [said(ANSWER)],
            "usage": {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12, "input_tokens_details": {"cached_tokens": 3}},
        },
    )
)
SUMMED_UP = (
    begun()
    + event("response.output_item.added", output_index=0, item=thought())
    + event("response.reasoning_summary_part.added", item_id="rs_1", summary_index=0, part={"type": "summary_text", "text": ""})
    + delta("Six times", "reasoning_summary_text")
    + event("response.reasoning_summary_part.added", item_id="rs_1", summary_index=1, part={"type": "summary_text", "text": ""})
    + delta("seven.", "reasoning_summary_text")
    + event("response.output_item.done", output_index=0, item=thought(summary=SUMMARY))
    + delta(ANSWER)
    + end(thought(summary=SUMMARY), said(ANSWER))
)
STREAM, JSON = "text/event-stream", "application/json"
BODIES: dict[str, tuple[int, str, bytes]] = {
    "ok": (200, STREAM, WHOLE),
    "llama-cpp": (200, STREAM, LLAMA_CPP),
    "crlf": (200, STREAM, b"\xef\xbb\xbf: hello\r\n\r\n" + WHOLE.replace(b"\n", b"\r\n")),
    "mislabelled": (200, JSON, WHOLE),
    "unnamed": (200, STREAM, begun(named=False) + delta(ANSWER, named=False) + end(said(ANSWER)) + b"data: [DONE]\n\n"),
    "untyped": (200, STREAM, b'event: response.output_text.delta\ndata: {"delta": "The answer is 42."}\n\n' + end()),
    "only-the-end": (200, STREAM, begun() + end(thought(summary=SUMMARY), said(ANSWER))),
    "no-output-at-the-end": (200, STREAM, begun() + delta(ANSWER) + end()),
    "never-completed": (200, STREAM, begun() + delta(ANSWER) + b"data: [DONE]\n\n"),
    "odd-events": (200, STREAM, event("response.new_thing", x=1) + b"event: ping\ndata: still here\n\ndata:\n\n" + WHOLE),
    "multi-line": (200, STREAM, delta(ANSWER).replace(b', "delta"', b',\ndata: "delta"') + end()),
    "summary": (200, STREAM, SUMMED_UP),
    "thinking": (
        200,
        STREAM,
        begun() + delta("Six times\n\nseven.", "reasoning_text") + delta(ANSWER) + end(said(ANSWER)),
    ),
    "late-thinking": (200, STREAM, begun() + delta(ANSWER) + end(thought(summary=SUMMARY), said(ANSWER))),
    "think-tags": (200, STREAM, delta("<think>Six times\n\nseven.</think>The answer ") + delta("is 42.") + end()),
    "whole": (200, JSON, json.dumps(response(thought(summary=SUMMARY), said(ANSWER)), indent=1).encode()),
    "whole-thinking": (
        200,
        JSON,
        json.dumps(
            response(thought(content=[{"type": "reasoning_text", "text": "Six times\n\nseven."}]), said(ANSWER))
        ).encode(),
    ),
    "searched": (200, STREAM, begun() + delta(ANSWER) + end({"type": "web_search_call", "id": "ws_1"}, said(ANSWER))),
    "cut-by-limit": (
        200,
        STREAM,
        begun() + delta(ANSWER) + end(said(ANSWER), kind="incomplete", incomplete_details={"reason": "max_output_tokens"}),
    ),
    "empty": (200, STREAM, begun() + end(message())),
    "only-thinking": (
        200,
        STREAM,
        begun()
        + delta("Hm.", "reasoning_text")
        + end(thought(), kind="incomplete", incomplete_details={"reason": "max_output_tokens"}),
    ),
    "filtered": (200, STREAM, begun() + end(kind="incomplete", incomplete_details={"reason": "content_filter"})),
    "refusal": (
        200,
        STREAM,
        begun()
        + delta("I cannot ", "refusal")
        + delta("help.", "refusal")
        + end(message({"type": "refusal", "refusal": "I cannot help."})),
    ),
    "whole-refusal": (200, JSON, json.dumps(response(message({"type": "refusal", "refusal": "I cannot help."}))).encode()),
    "tool": (200, STREAM, begun() + event("response.output_item.added", output_index=0, item=CALL) + end(CALL)),
    "bad-counts": (200, STREAM, delta("42") + end(usage={"input_tokens": "7", "output_tokens": -1})),
    "failed": (
        200,
        STREAM,
        begun()
        + delta("The ")
        + end(kind="failed", error={"code": "server_error", "message": "The server had an error"}, usage=None),
    ),
    "failed-rate": (
        200,
        STREAM,
        begun()
        + end(kind="failed", error={"code": "rate_limit_exceeded", "message": "Rate limit reached. Please try again in 20s."}),
    ),
    "failed-prompt": (200, STREAM, end(kind="failed", error={"code": "invalid_prompt", "message": "It cannot be answered."})),
    "failed-silently": (200, STREAM, event("response.failed", response={})),
    "error-flat": (
        200,
        STREAM,
        begun()
        + delta("The ")
        + event("error", code="server_is_overloaded", message="Our servers are overloaded", param=None, sequence_number=3),
    ),
    "error-nested": (
        200,
        STREAM,
        begun() + event("error", error={"type": "insufficient_quota", "code": "insufficient_quota", "message": "No credits"}),
    ),
    "error-bare": (200, STREAM, b'data: [{"error": {"message": "boom", "code": 503}}]\n\n'),
    "error-text": (200, STREAM, b"event: error\ndata: boom\n\n"),
    "early": (200, STREAM, begun() + delta("The ") + delta("answer")),
    "malformed": (200, STREAM, delta("The ") + b"event: response.output_text.delta\ndata: {oops\n\n" + end()),
    "whole-failed": (
        200,
        JSON,
        json.dumps(response(status="failed", error={"code": "server_error", "message": "The server had an error"})).encode(),
    ),
    "cancelled": (200, JSON, json.dumps(response(said("The"), status="cancelled")).encode()),
    "bad-json": (200, JSON, b'{"object": "response", "output": [{"type": "mess'),
    "no-answer": (200, JSON, b'{"detail": "Service paused"}'),
    "page": (200, "text/html", b"<html><head><title>Sign in</title></head></html>"),
    "missing": (
        404,
        JSON,
        b'{"error": {"message": "The model does not exist", "type": "invalid_request_error", "code": "model_not_found"}}',
    ),
    "long": (
        400,
        JSON,
        b'{"error":{"code":400,"message":"request (9031 tokens) exceeds the available context size (4096 tokens), '
        b'try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9031,"n_ctx":4096}}',
    ),
    "no-route": (405, "text/plain", b"Method Not Allowed"),
}


EVENTS = {"Content-Type": STREAM}
REPLIES = {model: Scripted(body, status, {"Content-Type": kind}) for model, (status, kind, body) in BODIES.items()} | {
    "bytewise": Scripted([bytes([byte]) for byte in delta(TEXT) + end()], headers=EVENTS),
    "hung": Scripted([begun(), delta("The "), 20.0], headers=EVENTS),
    "slow": Scripted([delta("The "), 0.3, delta("answer"), end()], headers=EVENTS),
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[NativeUpstream]:
    with NativeUpstream("openai_responses", REPLIES, base="/v1") as server:
        yield server


@pytest.mark.parametrize("model", ["ok", "llama-cpp"])
def test_a_streamed_answer_comes_back_whole(upstream: NativeUpstream, model: str) -> None:
    deltas: list[Delta] = []
    completion = upstream.ask(model, on_delta=deltas.append)
    assert completion == Completion(
        text=ANSWER,
        finish_reason="stop",
        model="m-2026-01-01",
        input_tokens=7,
        output_tokens=5,
        first_token_seconds=completion.first_token_seconds,
    )
    assert 0 < completion.first_token_seconds < 10
    assert len([piece for piece in deltas if piece.text]) == 2


def test_the_request_is_what_openai_documents_and_stores_nothing(
    upstream: NativeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_KEY", KEY)
    upstream.ask("ok", api_key_env="FAKE_KEY")
    sent = upstream.received[-1]
    assert sent.path == "/v1/responses"
    assert sent.body == {
        "model": "ok",
        "input": [
            {"type": "message", "role": "system", "content": "Be brief."},
            {"type": "message", "role": "user", "content": "What is the answer?"},
        ],
        "store": False,
        "stream": True,
    }
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["x-bench-depth"] == "1"


def test_a_key_is_sent_only_where_one_is_named_and_a_base_url_may_end_in_the_route(upstream: NativeUpstream) -> None:
    for ending in ("/", "/responses"):
        upstream.ask("ok", base_url=upstream.url + ending)
        sent = upstream.received[-1]
        assert sent.path == "/v1/responses"
        assert "authorization" not in sent.headers


def test_options_are_the_models_but_not_what_is_asked_of_whom() -> None:
    options = {
        "reasoning": {"effort": "low"},
        "max_output_tokens": 9,
        "store": None,
        "stream": False,
        "model": "x",
        "input": "",
    }
    assert PROTOCOLS["openai_responses"].build_request("mine", QUESTION[1:], options) == {
        "reasoning": {"effort": "low"},
        "max_output_tokens": 9,
        "model": "mine",
        "input": [{"type": "message", "role": "user", "content": "What is the answer?"}],
        "stream": True,
    }


def test_parts_are_named_by_who_says_them_and_images_are_sent_exactly_as_they_came() -> None:
    image = "data:image/png;base64,iVBORw0KGgo="
    user = Message("user", (TextPart("What is this?"), ImagePart(image)))
    model = Message("assistant", (TextPart("A dot."), TextPart("Black.")))
    body = PROTOCOLS["openai_responses"].build_request("m", [user, model], {})
    assert [item["content"] for item in body["input"]] == [
        [
            {"type": "input_text", "text": "What is this?"},
            {"type": "input_image", "detail": "auto", "image_url": image},
        ],
        [{"type": "output_text", "text": "A dot."}, {"type": "output_text", "text": "Black."}],
    ]


@pytest.mark.parametrize(
    "model",
    ["crlf", "mislabelled", "unnamed", "untyped", "no-output-at-the-end", "odd-events", "multi-line", "searched"],
)
def test_odd_ways_to_send_an_answer_are_read(upstream: NativeUpstream, model: str) -> None:
    completion = upstream.ask(model)
    assert (completion.text, completion.reasoning, completion.finish_reason) == (ANSWER, "", "stop")
    assert (completion.empty_why, completion.output_tokens) == ("", 5)


@pytest.mark.parametrize(
    "model", ["summary", "thinking", "late-thinking", "think-tags", "only-the-end", "whole", "whole-thinking"]
)
def test_reasoning_is_kept_apart_however_it_comes(upstream: NativeUpstream, model: str) -> None:
    completion = upstream.ask(model)
    assert (completion.text, completion.reasoning) == (ANSWER, "Six times\n\nseven.")
    assert (completion.input_tokens, completion.output_tokens, completion.model) == (7, 5, "m-2026-01-01")


def test_an_answer_that_is_done_without_being_completed_is_an_answer(upstream: NativeUpstream) -> None:
    completion = upstream.ask("never-completed")
    assert (completion.text, completion.finish_reason, completion.output_tokens) == (ANSWER, "", None)


def test_an_answer_cut_by_its_limit_is_an_answer_and_says_so(upstream: NativeUpstream) -> None:
    completion = upstream.ask("cut-by-limit")
    assert (completion.text, completion.finish_reason) == (ANSWER, "max_output_tokens")


def test_text_cut_anywhere_between_two_packets_is_read(upstream: NativeUpstream) -> None:
    assert upstream.ask("bytewise").text == TEXT


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("empty", "nothing came"),
        ("only-thinking", "it spent its whole budget thinking (finish reason max_output_tokens): raise its max_tokens"),
        ("filtered", "the provider's filter stopped it (finish reason content_filter)"),
        ("refusal", "the model refused: I cannot help."),
        ("whole-refusal", "the model refused: I cannot help."),
        ("tool", "it called a tool instead of answering"),
    ],
)
def test_an_empty_answer_says_why(upstream: NativeUpstream, model: str, why: str) -> None:
    completion = upstream.ask(model)
    assert (completion.text, completion.empty_why) == ("", why)


def test_counts_that_are_none_are_left_out(upstream: NativeUpstream) -> None:
    completion = upstream.ask("bad-counts")
    assert (completion.text, completion.input_tokens, completion.output_tokens) == ("42", None, None)


@pytest.mark.parametrize(
    ("model", "kind", "status", "words", "partial"),
    [
        ("failed", "unavailable", 200, "The server had an error", "The "),
        ("failed-rate", "rate_limited", 200, "Rate limit reached", ""),
        ("failed-prompt", "refused", 200, "It cannot be answered", ""),
        ("failed-silently", "bad_reply", 200, "an error, without a word", ""),
        ("error-flat", "overloaded", 200, "overloaded", "The "),
        ("error-nested", "payment_required", 200, "No credits", ""),
        ("error-bare", "overloaded", 200, "boom", ""),
        ("error-text", "bad_reply", 200, "boom", ""),
        ("early", "bad_reply", 200, "the stream ended early", "The answer"),
        ("malformed", "bad_reply", 200, "a malformed event", "The "),
        ("whole-failed", "unavailable", 200, "The server had an error", ""),
        ("cancelled", "bad_reply", 200, "an error, without a word", ""),
        ("bad-json", "bad_reply", 200, "cannot be read, or that was cut off", ""),
        ("no-answer", "bad_reply", 200, "Service paused", ""),
        ("page", "bad_reply", 200, "a web page came instead of an answer: Sign in", ""),
        ("missing", "maybe_gone", 404, "The model does not exist", ""),
        ("long", "context_too_long", 400, "exceeds the available context size", ""),
        ("no-route", "not_found", 405, "Method Not Allowed", ""),
        ("hung", "timeout", 200, "no further token for 0.5 s|no whole answer within 1 s", "The "),
    ],
)
def test_a_failed_call_says_how_and_keeps_what_came(
    upstream: NativeUpstream, model: str, kind: str, status: int, words: str, partial: str
) -> None:
    with pytest.raises(UpstreamError, match=words) as failed:
        upstream.ask(model, **({"first_token_timeout": 0.5, "seat_timeout": 1} if kind == "timeout" else {}))
    assert (failed.value.kind, failed.value.status, failed.value.partial) == (kind, status, partial)


def test_a_failure_tells_its_wait_and_its_window(upstream: NativeUpstream) -> None:
    with pytest.raises(UpstreamError) as limited:
        upstream.ask("failed-rate")
    assert limited.value.retry_after == 20
    with pytest.raises(UpstreamError) as long:
        upstream.ask("long")
    assert long.value.window == 4096


def test_pieces_come_as_they_are_said(upstream: NativeUpstream) -> None:
    times: list[float] = []
    upstream.ask("slow", on_delta=lambda _: times.append(time.monotonic()))
    assert times[1] - times[0] > 0.2


def test_it_does_not_matter_where_the_network_cuts() -> None:
    stream = SUMMED_UP + b"data: [DONE]\n\n"
    whole = list(parse_stream(lines([stream])))
    assert "".join(piece.text for piece in whole) == ANSWER
    for at in range(0, len(stream) + 1, 7):
        assert list(parse_stream(lines([stream[:at], stream[at:]]))) == whole, f"cut at {at}"


NAMES = st.sampled_from(
    ["type", "response", "output", "content", "summary", "text", "delta", "error", "status", "usage", "item"]
)
WORDS = st.sampled_from(["message", "reasoning", "output_text", "response.completed", "response.output_text.delta", "failed"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300)
@given(ANYTHING)
def test_no_json_whatever_breaks_the_reader(payload: Any) -> None:
    data = b"data: " + json.dumps(payload).encode() + b"\n\n"
    for read in (lambda: parse_reply(payload), lambda: list(parse_stream(lines([data])))):
        try:
            read()
        except UpstreamError as error:
            assert error.message
