"""One model is asked through a real socket, and its answer comes back whole, in whichever form it was sent."""

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gateway.chat import ImagePart, Message, TextPart
from gateway.tests.fake_upstream import SCRIPTS, FakeUpstream
from gateway.upstream import PROTOCOLS, complete
from gateway.upstream.contract import Completion, Delta, Target, UpstreamError
from gateway.upstream.sockets import clock

KEY = "9f8e7d6c5b4aQWERTYUIOP"
QUESTION = (Message("system", (TextPart("Be brief."),)), Message("user", (TextPart("What is the answer?"),)))

SOMEWHERE = Target(protocol="openai_chat", base_url="", model="m", connect_timeout=2, first_token_timeout=10, seat_timeout=10)


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream() as server:
        yield server


def target(upstream: FakeUpstream, model: str, **settings: Any) -> Target:
    limits = {"connect_timeout": 2, "first_token_timeout": 10, "seat_timeout": 20}
    return Target(**{"protocol": "openai_chat", "base_url": upstream.url, "model": model, **limits, **settings})


def ask(upstream: FakeUpstream, model: str, **settings: Any) -> Completion:
    return complete(target(upstream, model, **settings), QUESTION)


def test_a_streamed_answer_comes_back_whole(upstream: FakeUpstream) -> None:
    completion = ask(upstream, "ok")
    seconds = completion.first_token_seconds
    assert seconds is not None
    assert 0 < seconds < 10
    assert completion == Completion(
        text="The answer is 42.",
        finish_reason="stop",
        model="ok",
        input_tokens=7,
        output_tokens=5,
        first_token_seconds=seconds,
        upstream_status=200,
    )


def test_the_request_is_what_the_provider_documents(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", f" {KEY}\n")
    ask(upstream, "say-request", api_key_env="FAKE_KEY")
    sent = upstream.requests[-1]
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {
        "model": "say-request",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is the answer?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["accept-encoding"] == "identity"
    assert sent.headers["x-bench-depth"] == "1"
    assert sent.headers["user-agent"].startswith("Benchsite/0.")


def test_a_key_is_sent_only_where_one_is_named(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    ask(upstream, "ok")
    assert "authorization" not in upstream.requests[-1].headers


def test_a_base_url_may_end_in_a_slash_or_in_the_route(upstream: FakeUpstream) -> None:
    for base_url in (f"{upstream.url}/", f"{upstream.url}/chat/completions"):
        assert ask(upstream, "ok", base_url=base_url).text == "The answer is 42."
        assert upstream.requests[-1].path == "/v1/chat/completions"


def test_options_are_the_models_but_not_what_is_asked_of_whom() -> None:
    options = {"temperature": 0.2, "max_tokens": 9, "stream_options": None, "stream": False, "model": "other", "messages": []}
    body = PROTOCOLS["openai_chat"].build_request("mine", QUESTION[1:], options)
    assert body == {
        "temperature": 0.2,
        "max_tokens": 9,
        "model": "mine",
        "messages": [{"role": "user", "content": "What is the answer?"}],
        "stream": True,
    }


def test_parts_and_images_are_sent_exactly_as_they_came() -> None:
    image = "data:image/png;base64,iVBORw0KGgo="
    message = Message("user", (TextPart("What is this?"), ImagePart(image), TextPart("And why?")))
    body = PROTOCOLS["openai_chat"].build_request("m", [message, Message("user", (ImagePart("https://p.example/a?s=1"),))], {})
    assert [sent["content"] for sent in body["messages"]] == [
        [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": image}},
            {"type": "text", "text": "And why?"},
        ],
        [{"type": "image_url", "image_url": {"url": "https://p.example/a?s=1"}}],
    ]


@pytest.mark.parametrize(
    ("model", "text", "reasoning"),
    [
        ("json-body", "The answer is 42.", "Six times seven."),
        ("gzip", "The answer is 42.", ""),
        ("parts", "The answer is 42.", "Six times seven."),
        ("reasoning", "The answer is 42.", "Six times seven."),
        ("think-tags", "The answer is 42.", "Six times seven."),
        ("no-done", "The answer is 42.", ""),
        ("no-finish", "The answer is 42.", ""),
        ("hung-end", "The answer is 42.", ""),
        ("odd-start", "The answer is 42.", ""),
        ("mislabelled", "The answer is 42.", ""),
        ("bytewise", "Žluťoučký 🐎 你好", ""),
        ("half-pairs", "A horse 🐎, half a horse �.", ""),
    ],
)
def test_odd_ways_to_send_an_answer_are_read(upstream: FakeUpstream, model: str, text: str, reasoning: str) -> None:
    completion = ask(upstream, model)
    assert (completion.text, completion.reasoning, completion.empty_why) == (text, reasoning, "")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("empty", "nothing came"),
        ("whitespace", "only white space came"),
        ("length-reasoning", "it spent its whole budget thinking (finish reason length): raise its max_tokens"),
        ("refusal", "the model refused: I cannot help with that."),
        ("content-filter", "the provider's filter stopped it (finish reason content_filter)"),
        ("tool-call", "it called a tool instead of answering"),
    ],
)
def test_an_empty_answer_says_why(upstream: FakeUpstream, model: str, why: str) -> None:
    completion = ask(upstream, model)
    assert (completion.text, completion.empty_why) == ("", why)


def test_reasoning_is_a_first_token_and_never_the_answer(upstream: FakeUpstream) -> None:
    completion = ask(upstream, "length-reasoning")
    assert completion.reasoning == "I think and"
    assert completion.first_token_seconds is not None
    assert ask(upstream, "empty").first_token_seconds is None


def test_the_first_token_is_timed_from_the_call(upstream: FakeUpstream) -> None:
    for model in ("slow-0.3", "slow-headers-0.3"):
        seconds = ask(upstream, model).first_token_seconds
        assert seconds is not None
        assert 0.3 <= seconds < 10


def test_pieces_can_be_watched_as_they_come(upstream: FakeUpstream) -> None:
    pieces: list[Delta] = []
    completion = complete(target(upstream, "reasoning"), QUESTION, on_delta=pieces.append)
    assert "".join(piece.text for piece in pieces) == completion.text == "The answer is 42."
    assert "".join(piece.reasoning for piece in pieces) == completion.reasoning
    assert len([piece for piece in pieces if piece.text]) == 5
    whole: list[Delta] = []
    complete(target(upstream, "json-body"), QUESTION, on_delta=whole.append)
    assert [piece.text for piece in whole] == ["The answer is 42."]


def test_what_the_watcher_raises_ends_the_call(upstream: FakeUpstream) -> None:
    def refuse(piece: Delta) -> None:
        raise KeyError

    before = upstream.hang_ups
    with pytest.raises(KeyError) as caught:
        complete(target(upstream, "tick-0.05"), QUESTION, on_delta=refuse)
    ends = time.monotonic() + 0.8
    while upstream.hang_ups == before and time.monotonic() < ends:
        time.sleep(0.02)
    assert upstream.hang_ups == before + 1, "the connection was left open"
    del caught  # until here it holds every frame, so that nothing was closed by being forgotten


def test_a_key_in_an_answer_is_hidden(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", KEY)
    told = (Message("user", (TextPart(f"Say {KEY}!"),)),)
    assert complete(target(upstream, "echo", api_key_env="FAKE_KEY"), told).text == "Say [key]!"
    monkeypatch.setenv("FAKE_KEY", "ollama")
    asked = (Message("user", (TextPart("Is ollama a llama?"),)),)
    assert complete(target(upstream, "echo", api_key_env="FAKE_KEY"), asked).text == "Is ollama a llama?"


@pytest.mark.parametrize("value", ["", "  ", None, "kéy", "a\nb"])
def test_a_key_that_is_not_there_is_named(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("FAKE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("FAKE_KEY", value)
    before = len(upstream.requests)
    with pytest.raises(UpstreamError) as failed:
        ask(upstream, "ok", api_key_env="FAKE_KEY")
    assert failed.value.kind == "unauthorized"
    assert "FAKE_KEY" in failed.value.message
    assert len(upstream.requests) == before


def test_a_prompt_of_half_characters_can_be_asked(upstream: FakeUpstream) -> None:
    completion = complete(target(upstream, "echo"), (Message("user", (TextPart("half \ud83d horse"),)),))
    assert completion.text == "half � horse"


def test_options_that_json_cannot_say_are_refused(upstream: FakeUpstream) -> None:
    with pytest.raises(UpstreamError) as failed:
        ask(upstream, "ok", options={"stop": {1, 2}})
    assert failed.value.kind == "refused"


def test_an_unknown_protocol_is_named(upstream: FakeUpstream) -> None:
    with pytest.raises(UpstreamError, match="morse"):
        ask(upstream, "ok", protocol="morse")


def test_one_connection_serves_call_after_call(monkeypatch: pytest.MonkeyPatch) -> None:
    # A busy machine's own pauses are no late ends.
    monkeypatch.setattr(clock, "DRAIN_SECONDS", 5.0)
    with FakeUpstream() as upstream:
        for model in ("ok", "json-body", "no-finish", "late-end", "echo", "empty"):
            ask(upstream, model)
        for model in ("err-429", "err-500", "html-502", "error-200"):
            with pytest.raises(UpstreamError):
                ask(upstream, model)
        assert upstream.connections == 1


def test_a_connection_that_its_server_has_closed_fails_no_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    def tired(call: Any, _: str) -> None:
        call.answer("Good night.")
        call.hang_up()

    monkeypatch.setitem(SCRIPTS, "tired", tired)
    with FakeUpstream() as upstream:
        for _ in range(3):
            assert ask(upstream, "tired").text == "Good night."
            time.sleep(0.05)
        assert upstream.stats["tired"] == 3
        assert upstream.connections == 3


def test_a_request_that_no_server_has_whole_is_sent_again() -> None:
    """Its kept connection breaks off under it, as where a server closes what has idled for long."""
    reply = json.dumps({"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}).encode()
    whole: list[int] = []

    def answer(connection: socket.socket) -> None:
        come = b""
        while b"\r\n\r\n" not in come:
            come += connection.recv(65_536)
        head, _, body = come.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head.lower())[1])  # type: ignore[index]
        while len(body) < length:
            body += connection.recv(1_000_000)
        whole.append(length)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(reply), reply))

    def serve(door: socket.socket) -> None:
        first, _ = door.accept()
        first.settimeout(10)
        answer(first)
        first.recv(10)
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        first.close()
        second, _ = door.accept()
        with second:
            second.settimeout(10)
            answer(second)

    long = (Message("user", (TextPart("word " * 2_000_000),)),)
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(10)
        server = threading.Thread(target=serve, args=(door,), daemon=True)
        server.start()
        here = replace(SOMEWHERE, base_url=f"http://127.0.0.1:{door.getsockname()[1]}")
        assert [complete(here, asked).text for asked in (QUESTION, long)] == ["Whole.", "Whole."]
        server.join(10)
    assert len(whole) == 2


def test_what_a_server_may_have_read_is_never_sent_twice() -> None:
    with FakeUpstream() as upstream:
        with pytest.raises(UpstreamError):
            ask(upstream, "closed")
        for model in ("stale", "stale-0.3", "half-stale"):
            ask(upstream, model)
            with pytest.raises(UpstreamError):
                ask(upstream, model)
        with pytest.raises(UpstreamError):
            ask(upstream, "err-429")
        assert upstream.stats == {"closed": 1, "stale": 2, "stale-0.3": 2, "half-stale": 2, "err-429": 1}
