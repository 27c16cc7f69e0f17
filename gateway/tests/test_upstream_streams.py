"""A stream is read alike wherever the network cuts it, and whatever line ends, comments and oddities it has."""

import json
from collections.abc import Iterable, Iterator
from http.client import IncompleteRead
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.upstream.contract import Delta, UpstreamError
from gateway.upstream.openai_chat import parse_reply, parse_stream
from gateway.upstream.sockets.chunked import Dechunker
from gateway.upstream.sse import LONGEST_LINE, events, lines

TEXT = "Žluťoučký kůň 🐎 你好 “x”\u2028\u0085."
STREAM = (
    f"\ufeffdata: {json.dumps({'choices': [{'delta': {'content': TEXT}}]}, ensure_ascii=False)}\n\n"
    ": hello\n\n"
    "event: ping\ndata: still here\n\n"
    'data: {"choices":\ndata: [{"delta": {"content": " More."}}]}\n\n'
    'data:{"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
    "data: [DONE]\n\n"
)


def deltas(*blocks: bytes) -> list[Delta]:
    return list(parse_stream(lines(blocks)))


def chunk(**choice: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def test_a_stream_becomes_text() -> None:
    read = deltas(STREAM.encode())
    assert "".join(delta.text for delta in read) == TEXT + " More."
    assert read[-1].finish_reason == "stop"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_it_does_not_matter_where_the_network_cuts(end: str) -> None:
    stream = STREAM.replace("\n", end).encode()
    whole = deltas(stream)
    for at in range(len(stream) + 1):
        assert deltas(stream[:at], stream[at:]) == whole, f"cut at {at}"
    assert deltas(*(stream[at : at + 1] for at in range(len(stream)))) == whole


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_event_is_told_at_once(end: bytes) -> None:
    def blocks() -> Iterator[bytes]:
        yield b"data: 1" + end + end
        pytest.fail("the event had already come")

    assert next(events(lines(blocks()))) == ("", b"1")


@given(st.binary(max_size=300), st.lists(st.integers(0, 300)))
def test_any_bytes_make_the_same_lines_however_they_are_cut(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert list(lines(pieces)) == list(lines([data]))


def test_a_last_line_needs_no_end() -> None:
    assert list(lines([b"one\ntwo"])) == [b"one", b"two"]
    assert list(lines([b"one\n"])) == [b"one"]
    assert [delta.finish_reason for delta in deltas(chunk(delta={}, finish_reason="stop").rstrip())] == ["stop"]


def test_an_endless_line_is_given_up() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65_536

    with pytest.raises(UpstreamError, match=f"more than {LONGEST_LINE:,} bytes"):
        list(lines(endless()))


@pytest.mark.parametrize(
    ("stream", "kind", "words"),
    [
        (b'error: {"code": 400, "message": "boom", "type": "invalid_request_error"}\n\n', "refused", "boom"),
        (b'data: {"error": {"message": "boom", "type": "server_error"}}\n\n', "unavailable", "boom"),
        (b'data: {"error": "boom"}\n\n', "bad_reply", "boom"),
        (b'data: {"object": "error", "message": "boom", "code": 503}\n\n', "overloaded", "boom"),
        (
            b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "boom"}}\n\n',
            "overloaded",
            "boom",
        ),
        (b"event: error\ndata: boom\n\n", "bad_reply", "boom"),
        (b'{"error": {"message": "boom", "code": "429"}}\n', "rate_limited", "boom"),
        (b'data: [{"error": {"message": "boom", "status": "UNAVAILABLE"}}]\n\n', "overloaded", "boom"),
        (b'data: {"choices": [{"delta": {}, "finish_reason": "error"}]}\n\n', "bad_reply", "an error"),
        (b'data: {"choices": [{"delta": {}, "error": {"message": "boom", "code": 502}}]}\n\n', "overloaded", "boom"),
        (
            b'data: {"error": "loaded with context length of only 4096 tokens"}\n\n',
            "context_too_long",
            "4096",
        ),
        (b"data: {oops}\n\n", "bad_reply", "malformed chunk"),
        (b"data: 17\n\n", "bad_reply", "malformed chunk"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "bad_reply", "malformed chunk"),
        (b"", "bad_reply", "ended early"),
        (b": only\n\n: comments\n\n", "bad_reply", "ended early"),
        (b'data: {"choices": [{"delta": {"cont', "bad_reply", "ended early"),
    ],
)
def test_a_stream_that_fails_says_how_and_keeps_what_came(stream: bytes, kind: str, words: str) -> None:
    read = parse_stream(lines([chunk(delta={"content": "So far."}), stream]))
    assert next(read).text == "So far."
    with pytest.raises(UpstreamError, match=words) as failed:
        list(read)
    assert failed.value.kind == kind


@pytest.mark.parametrize(
    "noise",
    [
        b"data:\n\n",
        b"retry: 10\nid: 7\n\n",
        b"event: ping\ndata: {}\n\n",
        b"event: x\ndata: not json\n\n",
        b"data: {}\n\n",
        b"\n\n\n",
    ],
)
def test_noise_between_chunks_is_passed_over(noise: bytes) -> None:
    read = deltas(noise, chunk(delta={"content": "One"}), noise, chunk(delta={}, finish_reason="stop"), noise)
    assert "".join(delta.text for delta in read) == "One"


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"delta": {"content": "x", "role": "assistant"}}, Delta(text="x")),
        ({"delta": {"content": None, "reasoning_content": "y"}}, Delta(reasoning="y")),
        ({"delta": {"content": "", "reasoning": "y", "reasoning_content": "y"}}, Delta(reasoning="y")),
        ({"delta": {"reasoning_details": [{"type": "reasoning.summary", "summary": "y"}]}}, Delta(reasoning="y")),
        (
            {"delta": {"content": [{"type": "text", "text": "x"}, {"type": "thinking", "thinking": "y"}]}},
            Delta(text="x", reasoning="y"),
        ),
        ({"delta": {"refusal": "no"}}, Delta(refusal="no")),
        ({"delta": {"tool_calls": [{}]}}, Delta(calls_tool=True)),
        ({"message": {"content": "x"}, "finish_reason": "stop"}, Delta(text="x", finish_reason="stop")),
        ({"text": "x", "finish_reason": None}, Delta(text="x")),
        ({"delta": {"content": 5, "reasoning": 6, "refusal": 7}, "finish_reason": 8}, Delta()),
        ({"delta": [], "finish_reason": ["stop"]}, Delta()),
    ],
)
def test_a_chunk_adds_what_it_has(choice: dict[str, Any], expected: Delta) -> None:
    assert deltas(chunk(**choice), b"data: [DONE]\n\n") == [expected]


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 5}, (7, 5)),
        ({"input_tokens": 7, "output_tokens": 0}, (7, 0)),
        ({"prompt_tokens": "7", "completion_tokens": -1}, (None, None)),
        ({"prompt_tokens": 10**20, "completion_tokens": True}, (None, None)),
        ([7, 5], (None, None)),
    ],
)
def test_usage_is_read_from_a_chunk_without_choices(usage: Any, tokens: tuple[int | None, int | None]) -> None:
    (delta,) = deltas(b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\ndata: [DONE]\n\n")
    assert (delta.input_tokens, delta.output_tokens) == tokens


def test_bytes_that_are_not_utf8_spoil_only_themselves() -> None:
    (delta,) = deltas(b'data: {"choices": [{"delta": {"content": "caf\xe9 ok"}}]}\n\ndata: [DONE]\n\n')
    assert delta.text == "caf� ok"


NAMES = st.sampled_from(
    ["choices", "delta", "message", "content", "error", "code", "finish_reason", "usage", "reasoning_details", "thinking"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300)
@given(JSON)
def test_no_json_whatever_breaks_the_reader(payload: Any) -> None:
    for read in (lambda: parse_reply(payload), lambda: deltas(b"data: " + json.dumps(payload).encode() + b"\n\n")):
        try:
            read()
        except UpstreamError as error:
            assert error.message


def chunked(body: bytes, sizes: Iterable[int], *, tail: bytes = b"0\r\n\r\n") -> bytes:
    coded = b""
    for size in sizes:
        piece, body = body[:size], body[size:]
        coded += b"%x;ext=1\r\n%s\r\n" % (len(piece), piece) if piece else b""
    return coded + (b"%X\r\n%s\r\n" % (len(body), body) if body else b"") + tail


@given(st.binary(min_size=1, max_size=200), st.lists(st.integers(1, 40)), st.lists(st.integers(0, 400)))
def test_chunks_are_undone_wherever_they_and_the_network_cut(body: bytes, sizes: list[int], cuts: list[int]) -> None:
    coded = chunked(body, sizes, tail=b"0\r\nTrailer: x\r\n\r\n")
    places = [0, *sorted(min(cut, len(coded)) for cut in cuts), len(coded)]
    dechunker = Dechunker()
    read = b"".join(dechunker.feed(coded[start:end]) for start, end in pairwise(places))
    assert (read, dechunker.ended) == (body, True)


@pytest.mark.parametrize("coded", [b"nonsense\r\n", b"-5\r\nabcdefgh", b"5" * 9_000, b"G\r\n"])
def test_what_is_not_chunked_is_refused_or_never_ends(coded: bytes) -> None:
    dechunker = Dechunker()
    with pytest.raises(IncompleteRead):
        dechunker.feed(coded)
    assert not dechunker.ended
