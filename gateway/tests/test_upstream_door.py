"""What leaves the upstream's door is fit for everyone behind it: whole characters, short names, no key, nobody's query."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.chat import Message, TextPart
from gateway.tests.fake_upstream import SCRIPTS, FakeUpstream, Script, fixed
from gateway.upstream import complete
from gateway.upstream.answer import Gathering
from gateway.upstream.answer.hiding import without_key
from gateway.upstream.classify import error_in
from gateway.upstream.contract import Completion, Delta, Target, UpstreamError
from gateway.upstream.llm_cli import parse_ending

KEY = "of-no-known-form-4711-0815"
QUESTION = (Message("user", (TextPart("What is the answer?"),)),)


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream() as server:
        yield server


@pytest.fixture
def ask(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Completion]:
    def asked(script: Script, **settings: Any) -> Completion:
        monkeypatch.setitem(SCRIPTS, "scripted", script)
        target = Target(
            protocol="openai_chat",
            base_url=upstream.url,
            model="scripted",
            connect_timeout=2,
            first_token_timeout=5,
            seat_timeout=10,
        )
        return complete(target, QUESTION, typed_key=lambda: KEY, **settings)

    return asked


def replying(body: str, status: int = 200, **headers: str) -> Script:
    return fixed(status, body.encode(), **headers)


def answering(**fields: Any) -> str:
    return json.dumps({"choices": [{"message": {"content": "Yes."}, "finish_reason": fields.pop("ended", "stop")}], **fields})


def test_half_a_character_anywhere_breaks_nothing(ask: Callable[..., Completion]) -> None:
    completion = ask(replying(answering(model="m\ud83d", ended="stop\ud83d")))
    assert (completion.model, completion.finish_reason) == ("m\ufffd", "stop\ufffd")
    with pytest.raises(UpstreamError) as failed:
        ask(replying('{"error": {"message": "cut \\ud83d here"}}', status=400))
    assert failed.value.message == "cut \ufffd here"


@given(st.lists(st.sampled_from(["a", "\ud83d", "\ude00", "é", "🐎", "\udc00"]), max_size=12))
def test_pieces_come_in_whole_characters_and_make_up_the_answer(pieces: list[str]) -> None:
    seen: list[str] = []
    gathering = Gathering()
    take = without_key(lambda delta: seen.append(delta.text), "")
    for piece in [*pieces, "."]:
        take(Delta(text=piece))
        gathering.add(Delta(text=piece))
    assert all(piece.encode() or not piece for piece in seen)
    assert "".join(seen) == gathering.completion().text


def test_names_and_counts_that_are_none_are_kept_short_or_away(ask: Callable[..., Completion]) -> None:
    odd = ask(replying(answering(model="m" * 100_000, ended="e\n" * 100_000, usage={"prompt_tokens": 2**31})))
    assert (len(odd.model), len(odd.finish_reason), odd.input_tokens) == (200, 200, None)
    odd = ask(replying(answering(model={"x": 1}, ended=["x"], usage={"prompt_tokens": -5, "completion_tokens": 1e99})))
    assert (odd.text, odd.model, odd.finish_reason, odd.input_tokens, odd.output_tokens) == ("Yes.", "", "", None, None)
    endless = parse_ending(b"Token usage: %s input, 5 output" % (b"9" * 5_000))
    assert (endless.input_tokens, endless.output_tokens) == (None, 5)


def test_no_name_carries_a_key(ask: Callable[..., Completion]) -> None:
    completion = ask(replying(answering(model=f"m {KEY}", ended="sk-live-0123456789")))
    assert (completion.model, completion.finish_reason) == ("m [key]", "[key]")
    assert ask(replying(answering(model="scripted"))).model == "scripted"
    silent = {"choices": [{"message": {"content": ""}, "finish_reason": f"length {KEY}"}]}
    assert KEY not in repr(ask(replying(json.dumps(silent))))


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("/v1/other?tok=abcdef123456", "/v1/other?..."),
        ("//u:pw@host.example/v1#tok", "//host.example/v1"),
        ("https://u:pw@host.example/v1?key=1", "https://host.example/v1?..."),
        ("other?tok=1", "other?..."),
        ("https://[broken", "what is no URL"),
        ("", "nowhere"),
    ],
)
def test_a_redirect_is_told_without_its_query(ask: Callable[..., Completion], location: str, told: str) -> None:
    with pytest.raises(UpstreamError) as failed:
        ask(replying("", status=302, Location=location))
    assert f"redirects to {told}, and no redirect" in failed.value.message


def test_a_huge_error_is_read_in_a_moment_and_a_deep_one_to_its_depth() -> None:
    assert error_in({"error": {"message": "sk-" * 2_000_000}}).message.startswith("sk-sk-")
    deep: Any = {"message": "bottom"}
    for _ in range(900):
        deep = {"message": "x", "metadata": {"raw": deep}}
    assert error_in(deep).message.startswith("x")
