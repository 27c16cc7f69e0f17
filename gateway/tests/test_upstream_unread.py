"""A prompt that a server cut or filled its window with, and answered as if nothing were amiss, is no answered prompt."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.chat import Message, TextPart
from gateway.tests.native_upstream import NativeUpstream, Scripted
from gateway.upstream.answer import gathered
from gateway.upstream.contract import Delta, UpstreamError


def ollama(read: int | None, text: str = "42", reason: str = "stop", written: int = 1) -> Scripted:
    end = {"message": {"content": text}, "done": True, "done_reason": reason, "prompt_eval_count": read, "eval_count": written}
    return Scripted(json.dumps(end).encode() + b"\n", headers={"Content-Type": "application/x-ndjson"})


# Ollama keeps as much as its window holds, or half of it and four tokens.
REPLIES = {
    "whole": ollama(9000),
    "cut-to-4096": ollama(4096),
    "cut-to-half": ollama(2050),
    "cached": ollama(1500),
    "uncounted": ollama(None),
    "no-room": ollama(4096, "", "length", 0),
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[NativeUpstream]:
    with NativeUpstream("ollama", REPLIES) as server:
        yield server


def words(count: int) -> tuple[Message, ...]:
    return (Message("user", (TextPart("word " * count),)),)


@pytest.mark.parametrize("model", ["whole", "cached", "uncounted"])
def test_a_prompt_that_was_read_or_may_have_been_is_answered(upstream: NativeUpstream, model: str) -> None:
    assert upstream.ask(model, words(8000)).text == "42"


@pytest.mark.parametrize(("model", "read"), [("cut-to-4096", "4,096"), ("cut-to-half", "2,050")])
def test_a_prompt_of_more_words_than_the_window_was_cut(upstream: NativeUpstream, model: str, read: str) -> None:
    with pytest.raises(UpstreamError) as caught:
        upstream.ask(model, words(8000))
    error = caught.value
    assert (error.kind, error.window, error.status, error.partial) == ("context_too_long", None, 200, "42")
    assert f"the server cut the prompt of 8,000 words to {read} tokens" in error.message


def test_a_prompt_that_happens_to_be_as_long_as_a_window_is_answered(upstream: NativeUpstream) -> None:
    assert upstream.ask("cut-to-4096", words(4096)).text == "42"


def test_a_prompt_that_leaves_no_room_for_an_answer_is_too_long(upstream: NativeUpstream) -> None:
    with pytest.raises(UpstreamError) as caught:
        upstream.ask("no-room", words(9))
    assert (caught.value.kind, caught.value.window) == ("context_too_long", None)
    assert "no room for an answer (4,096 tokens of prompt, finish reason length)" in caught.value.message


def test_a_window_that_ended_an_answer_before_it_began_is_too_small() -> None:
    with pytest.raises(UpstreamError, match="no room for an answer") as caught:
        gathered([Delta(finish_reason="model_context_window_exceeded")])
    assert caught.value.kind == "context_too_long"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"finish_reason": "length", "input_tokens": 9, "output_tokens": 9}, "it reached its output limit before any text"),
        ({"finish_reason": "length", "output_tokens": 0}, "it reached its output limit before any text"),
        ({"finish_reason": "length", "input_tokens": 9, "output_tokens": 0, "reasoning": "Hm."}, "thinking"),
        ({"finish_reason": "model_context_window_exceeded", "reasoning": "Hm."}, "thinking"),
        ({"finish_reason": "stop", "input_tokens": 9, "output_tokens": 0}, "nothing came"),
    ],
)
def test_other_empty_answers_say_why_they_are_empty(fields: dict[str, Any], why: str) -> None:
    completion = gathered([Delta(**fields)])
    assert completion.text == ""
    assert why in completion.empty_why


def test_an_answer_that_the_window_ended_is_an_answer() -> None:
    assert gathered([Delta(text="The answer", finish_reason="model_context_window_exceeded")]).text == "The answer"
