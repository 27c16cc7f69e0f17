"""A model behind Ollama's own API is asked through a real socket: what is sent, and whatever comes back."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.chat import ImagePart, Message, TextPart
from gateway.tests.native_upstream import QUESTION, NativeUpstream, Scripted
from gateway.upstream import PROTOCOLS
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.upstream.ollama import parse_reply, parse_stream
from gateway.upstream.sse import lines
from gateway.wire import ollama as wire

KEY = "9f8e7d6c5b4aQWERTYUIOP"
TEXT = "Žluťoučký 🐎 你好\u2028"
COUNTS = {"total_duration": 9, "prompt_eval_count": 7, "eval_count": 5}


def said(content: str = "", **message: Any) -> dict[str, Any]:
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": content, **message}}


def piece(content: str = "", **message: Any) -> bytes:
    return json.dumps(said(content, **message) | {"done": False}, ensure_ascii=False).encode() + b"\n"


def end(reason: str = "stop", content: str = "", **fields: Any) -> bytes:
    return json.dumps(said(content) | {"done": True, "done_reason": reason} | COUNTS | fields).encode() + b"\n"


WHOLE = piece("The ") + piece("answer is 42.") + end()
BODIES: dict[str, tuple[int, str, bytes]] = {
    "ok": (200, "application/x-ndjson", WHOLE),
    "mislabelled": (200, "application/json", WHOLE),
    "crlf": (200, "text/plain", WHOLE.replace(b"\n", b"\r\n\r\n")),
    "one-line": (200, "application/json", end(content="The answer is 42.").rstrip()),
    "in-print": (200, "application/json", json.dumps(json.loads(end(content="The answer is 42.")), indent=2).encode()),
    "old": (200, "application/x-ndjson", piece("The answer is 42.") + b'{"model":"m","done":true,"eval_count":5}\n'),
    "thinking": (
        200,
        "application/x-ndjson",
        piece("", thinking="Six times ") + piece("", thinking="seven.") + piece("The answer is 42.") + end(),
    ),
    "imitation": (
        200,
        "application/x-ndjson",
        piece("", reasoning_content="Six times seven.") + piece("The answer is 42.") + end(),
    ),
    "think-tags": (200, "application/x-ndjson", piece("<think>Six times seven.</think>The answer is 42.") + end()),
    "only-thinking": (200, "application/x-ndjson", piece("", thinking="Hm.") + end("length")),
    "empty": (200, "application/x-ndjson", end()),
    "tool": (200, "application/x-ndjson", piece("", tool_calls=[{"function": {"name": "f", "arguments": {}}}]) + end()),
    "bad-counts": (200, "application/x-ndjson", end(content="42", prompt_eval_count="7", eval_count=-1)),
    "error-line": (200, "application/x-ndjson", piece("The ") + b'{"error":"an error was encountered: CUDA out of memory"}\n'),
    "overloaded": (200, "application/x-ndjson", b'{"error":"server busy, please try again: the model is overloaded"}\n'),
    "early": (200, "application/x-ndjson", piece("The ") + piece("answer")),
    "cut": (200, "application/x-ndjson", piece("The ") + piece("answer")[:-30]),
    "malformed": (200, "application/x-ndjson", piece("The ") + b"{oops}\n" + end()),
    "bad-json": (200, "application/json", b'{"model":"m","message":{"content":"The'),
    "no-answer": (200, "application/json", b'{"detail":"Service paused"}'),
    "list": (200, "application/json", b"[1]"),
    "page": (200, "text/html", b"<html><head><title>Sign in</title></head></html>"),
    "missing": (404, "application/json", b'{"error":"model \'missing\' not found"}'),
    "long": (
        400,
        "application/json",
        b'{"error":"prompt is longer than the context length currently available to the model"}',
    ),
    "paid": (403, "application/json", b'{"error":"this model requires a subscription, upgrade for access"}'),
    "busy": (503, "application/json", b'{"error":"server busy, please try again. maximum pending requests exceeded"}'),
}


NDJSON = {"Content-Type": "application/x-ndjson"}
REPLIES = {model: Scripted(body, status, {"Content-Type": kind}) for model, (status, kind, body) in BODIES.items()} | {
    "bytewise": Scripted([bytes([byte]) for byte in piece(TEXT) + end()], headers=NDJSON),
    "hung": Scripted([piece("The "), 20.0], headers=NDJSON),
    "slow": Scripted([piece("The "), 0.3, piece("answer"), end()], headers=NDJSON),
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[NativeUpstream]:
    with NativeUpstream("ollama", REPLIES) as server:
        yield server


def test_a_streamed_answer_comes_back_whole(upstream: NativeUpstream) -> None:
    deltas: list[Delta] = []
    completion = upstream.ask("ok", on_delta=deltas.append)
    assert completion == Completion(
        text="The answer is 42.",
        finish_reason="stop",
        model="m",
        input_tokens=7,
        output_tokens=5,
        first_token_seconds=completion.first_token_seconds,
    )
    assert 0 < completion.first_token_seconds < 10
    assert [delta.text for delta in deltas] == ["The ", "answer is 42.", ""]


def test_the_request_is_what_ollama_documents(upstream: NativeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", KEY)
    upstream.ask("ok", api_key_env="FAKE_KEY")
    sent = upstream.received[-1]
    assert sent.path == "/api/chat"
    assert sent.body == {
        "truncate": False,
        "shift": False,
        "model": "ok",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is the answer?"}],
        "stream": True,
    }
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["x-bench-depth"] == "1"


def test_a_key_is_sent_only_where_one_is_named_and_a_base_url_may_end_in_the_route(upstream: NativeUpstream) -> None:
    for ending in ("/", "/api/chat"):
        upstream.ask("ok", base_url=upstream.url + ending)
        sent = upstream.received[-1]
        assert sent.path == "/api/chat"
        assert "authorization" not in sent.headers


def test_options_are_the_models_and_stand_where_the_format_wants_them() -> None:
    options = {
        "temperature": 0.2,
        "max_tokens": 9,
        "top_p": None,
        "think": "low",
        "keep_alive": "10m",
        "truncate": True,
        "format": None,
        "options": {"num_ctx": 8192, "temperature": 0.5, "seed": None},
        "stream": False,
        "model": "other",
        "messages": [],
        "tools": [{}],
    }
    body = PROTOCOLS["ollama"].build_request("mine", QUESTION[1:], options)
    assert body == {
        "truncate": True,
        "shift": False,
        "think": "low",
        "keep_alive": "10m",
        "options": {"temperature": 0.5, "num_predict": 9, "num_ctx": 8192},
        "model": "mine",
        "messages": [{"role": "user", "content": "What is the answer?"}],
        "stream": True,
    }


def test_images_are_sent_bare() -> None:
    parts = (TextPart("What is this?"), ImagePart("data:image/png;base64,iVBORw0KGgo="), TextPart("And why?"))
    body = PROTOCOLS["ollama"].build_request("m", [Message("user", parts), Message("user", parts[1:2])], {})
    assert body["messages"] == [
        {"role": "user", "content": "What is this?\nAnd why?", "images": ["iVBORw0KGgo="]},
        {"role": "user", "content": "", "images": ["iVBORw0KGgo="]},
    ]


def test_an_image_by_url_is_an_error_that_says_so_before_any_call(upstream: NativeUpstream) -> None:
    before = len(upstream.received)
    image = ImagePart("https://photos.example/chair.jpg?sig=secret")
    with pytest.raises(UpstreamError, match="carries images as data, not by URL") as failed:
        upstream.ask("ok", [Message("user", (TextPart("What is this?"), image))])
    assert failed.value.kind == "refused"
    assert "secret" not in str(failed.value)
    assert len(upstream.received) == before


@pytest.mark.parametrize(
    ("model", "text", "reasoning"),
    [
        ("mislabelled", "The answer is 42.", ""),
        ("crlf", "The answer is 42.", ""),
        ("one-line", "The answer is 42.", ""),
        ("in-print", "The answer is 42.", ""),
        ("old", "The answer is 42.", ""),
        ("thinking", "The answer is 42.", "Six times seven."),
        ("think-tags", "The answer is 42.", "Six times seven."),
        ("imitation", "The answer is 42.", "Six times seven."),
        ("bytewise", TEXT, ""),
    ],
)
def test_odd_ways_to_send_an_answer_are_read(upstream: NativeUpstream, model: str, text: str, reasoning: str) -> None:
    completion = upstream.ask(model)
    assert (completion.text, completion.reasoning, completion.finish_reason) == (text, reasoning, "stop")
    assert completion.output_tokens == 5


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("empty", "nothing came"),
        ("only-thinking", "it spent its whole budget thinking"),
        ("tool", "it called a tool instead of answering"),
    ],
)
def test_an_empty_answer_says_why(upstream: NativeUpstream, model: str, why: str) -> None:
    completion = upstream.ask(model)
    assert completion.text == ""
    assert why in completion.empty_why


def test_counts_that_are_none_are_left_out(upstream: NativeUpstream) -> None:
    completion = upstream.ask("bad-counts")
    assert (completion.text, completion.input_tokens, completion.output_tokens) == ("42", None, None)


@pytest.mark.parametrize(
    ("model", "kind", "status", "words", "partial"),
    [
        ("error-line", "bad_reply", 200, "CUDA out of memory", "The "),
        ("overloaded", "overloaded", 200, "server busy", ""),
        ("early", "bad_reply", 200, "the stream ended early", "The answer"),
        ("cut", "bad_reply", 200, "the stream ended early", "The "),
        ("malformed", "bad_reply", 200, "a malformed line", "The "),
        ("bad-json", "bad_reply", 200, "cannot be read, or that was cut off", ""),
        ("no-answer", "bad_reply", 200, "Service paused", ""),
        ("list", "bad_reply", 200, "an error", ""),
        ("page", "bad_reply", 200, "a web page came instead of an answer: Sign in", ""),
        ("missing", "maybe_gone", 404, "model 'missing' not found", ""),
        ("long", "context_too_long", 400, "longer than the context length", ""),
        ("paid", "payment_required", 403, "requires a subscription", ""),
        ("busy", "overloaded", 503, "server busy", ""),
        ("hung", "timeout", 200, "no further token for 0.5 s|no whole answer within 1 s", "The "),
    ],
)
def test_a_failed_call_says_how_and_keeps_what_came(
    upstream: NativeUpstream, model: str, kind: str, status: int, words: str, partial: str
) -> None:
    with pytest.raises(UpstreamError, match=words) as failed:
        upstream.ask(model, **({"first_token_timeout": 0.5, "seat_timeout": 1} if kind == "timeout" else {}))
    assert (failed.value.kind, failed.value.status, failed.value.partial) == (kind, status, partial)


def test_pieces_come_as_they_are_said(upstream: NativeUpstream) -> None:
    times: list[float] = []
    upstream.ask("slow", on_delta=lambda _: times.append(time.monotonic()))
    assert times[1] - times[0] > 0.2


def test_it_does_not_matter_where_the_network_cuts() -> None:
    stream = piece(TEXT) + b"\r\n" + piece("More.") + end()
    whole = list(parse_stream(lines([stream])))
    assert "".join(delta.text for delta in whole) == f"{TEXT}More."
    for at in range(len(stream) + 1):
        assert list(parse_stream(lines([stream[:at], stream[at:]]))) == whole, f"cut at {at}"


def test_it_is_the_mirror_of_the_wire_format() -> None:
    chat_route, image = wire.ROUTES[0], ImagePart("data:image/png;base64,iVBORw0KGgo=")
    messages = (*QUESTION, Message("assistant", (TextPart("42"),)), Message("user", (TextPart("And this?"), image)))
    sent = PROTOCOLS["ollama"].build_request("bench/core", messages, {})
    chat: Any = wire.parse_request(sent, chat_route)
    assert (chat.messages, chat.model, chat.stream, chat.ignored) == (messages, "bench/core", True, ("truncate", "shift"))
    encoder = wire.stream_encoder(chat, chat_route)
    pieces = [*encoder.start(), *encoder.text(TEXT), *encoder.keepalive(), *encoder.error(502, "Nobody answered.")]
    read = parse_stream(lines(pieces))
    assert (next(read).text, next(read).text) == (TEXT, "")
    with pytest.raises(UpstreamError, match="Nobody answered"):
        next(read)
    loaded: Any = wire.parse_request({"model": "bench/core", "messages": []}, chat_route)
    assert parse_reply(loaded.rendered.body).finish_reason == "load"
