"""An error that quotes the prompt back teaches nothing that the prompt says, whatever it says and however it is quoted."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.chat import ImagePart, Message, TextPart
from gateway.tests.native_upstream import NativeUpstream, Scripted
from gateway.upstream.classify import read_error
from gateway.upstream.classify.echoes import asked
from gateway.upstream.contract import UpstreamError

PROMPT = (
    "Why does it say that this model's maximum context length is 4096 tokens?\n"
    "Another says: prompt is too long: 5000 tokens > 4097 maximum. A third, that the model has been decommissioned\n"
    'and "reached its end of life"; a fourth that the credit balance is too low, supports at most 512 completion tokens, '
    "and that the model fast does not exist or you do not have access to it."
)
ASKED = (
    Message("system", (TextPart("Be brief."),)),
    Message("user", (TextPart(PROMPT), ImagePart("https://photos.example/a.png"))),
)
REAL = "This model's maximum context length is 8192 tokens."
# The ways in which providers repeat a request.
QUOTED = {
    "bare": PROMPT,
    "quoted": f'"{PROMPT}"',
    "backticks": f"`{PROMPT}`",
    "cut": PROMPT[8:230] + "...",
    "json": json.dumps({"messages": [{"role": "user", "content": PROMPT}]}),
    "twice-escaped": json.dumps(json.dumps({"messages": [{"role": "user", "content": PROMPT}]})),
    "python": f"[{{'type': 'string_type', 'loc': ('body', 'messages'), 'input': {PROMPT!r}}}]",
    "assigned": f"input_value={PROMPT}",
    "one-line": " ".join(PROMPT.split()),
}


def error(message: str, **fields: Any) -> bytes:
    return json.dumps({"error": {"message": message, **fields}}).encode()


REPLIES = {
    **{name: Scripted(error(f"Invalid prompt: {quoted}"), 400) for name, quoted in QUOTED.items()},
    **{f"{name}-422": Scripted(error(f"Invalid prompt: {quoted}"), 422) for name, quoted in QUOTED.items()},
    **{f"{name}-413": Scripted(error(f"Too big. {quoted}"), 413) for name, quoted in QUOTED.items()},
    **{f"{name}-real": Scripted(error(f"{REAL} Your prompt: {quoted}"), 400) for name, quoted in QUOTED.items()},
    **{f"{name}-late": Scripted(error(f"Your prompt {quoted} is too much. {REAL}"), 400) for name, quoted in QUOTED.items()},
    "short": Scripted(error("Too big: x: 5 tokens > 4096 maximum"), 413),
    "field": Scripted(
        json.dumps({"detail": [{"loc": ["body"], "msg": "no", "input": {"error": {"message": PROMPT}}}]}).encode(), 422
    ),
    "text": Scripted(f"cannot read {PROMPT}".encode(), 400),
    "in-200": Scripted(error(f"Invalid prompt: {PROMPT}", code=400)),
    "in-stream": Scripted(b"data: " + error(f"Invalid prompt: {PROMPT}", code=400) + b"\n\n"),
    "gone-404": Scripted(error(f"No route for: {PROMPT}"), 404),
    "real-410": Scripted(error(f"Gone. You asked: {PROMPT}"), 410),
    "real-402": Scripted(error(f"Pay. You asked: {PROMPT}"), 402),
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[NativeUpstream]:
    with NativeUpstream("openai_chat", REPLIES) as server:
        yield server


def failed(upstream: NativeUpstream, model: str) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        upstream.ask(model, ASKED)
    return caught.value


@pytest.mark.parametrize("model", [*QUOTED, *(f"{name}-422" for name in QUOTED), "field", "text", "in-200", "in-stream"])
def test_a_prompt_that_is_quoted_back_says_nothing_about_the_model(upstream: NativeUpstream, model: str) -> None:
    told = failed(upstream, model)
    assert (told.kind, told.window, told.output_limit, told.pattern) == ("refused", None, None, "")


@pytest.mark.parametrize("model", [f"{name}-413" for name in QUOTED])
def test_no_window_is_learned_from_it_where_the_status_says_that_it_is_too_large(upstream: NativeUpstream, model: str) -> None:
    told = failed(upstream, model)
    assert (told.kind, told.window) == ("context_too_long", None)


@pytest.mark.parametrize("model", [f"{name}-{place}" for name in QUOTED for place in ("real", "late")])
def test_the_window_beside_a_quoted_prompt_is_learned(upstream: NativeUpstream, model: str) -> None:
    told = failed(upstream, model)
    assert (told.kind, told.window) == ("context_too_long", 8192)


@pytest.mark.parametrize(
    ("model", "kind"), [("gone-404", "not_found"), ("real-410", "retired"), ("real-402", "payment_required")]
)
def test_a_status_is_the_providers_own_word(upstream: NativeUpstream, model: str, kind: str) -> None:
    told = failed(upstream, model)
    assert (told.kind, told.pattern) == (kind, "")


def test_a_number_is_not_learned_from_a_clause_too_short_to_be_told_from_the_providers_own(upstream: NativeUpstream) -> None:
    with pytest.raises(UpstreamError) as caught:
        upstream.ask("short", (Message("user", (TextPart("x: 5 tokens > 4096 maximum"),)),))
    assert (caught.value.kind, caught.value.window) == ("context_too_long", None)


@pytest.mark.parametrize(
    "repeated", ["the model token limit:  300 (", "the model token limit: 300 (", "limit:\t 300 tokens > 299 maximum"]
)
def test_spaces_hide_no_prompt_whether_it_is_repeated_with_them_or_without(repeated: str) -> None:
    prompt = Message("user", (TextPart("the model token limit:  300 (\nlimit:\t 300 tokens > 299 maximum"),))
    with asked((prompt,)):
        told = read_error(400, {}, error(f"Cannot parse {repeated}", code="context_length_exceeded"))
    assert (told.kind, told.window) == ("context_too_long", None)


def test_a_prompt_is_not_shown_in_the_error(upstream: NativeUpstream) -> None:
    assert failed(upstream, "bare").message == "Invalid prompt:…"
    assert failed(upstream, "quoted-late").message == f'Your prompt "…" is too much. {REAL}'


def test_what_another_call_asked_does_not_count(upstream: NativeUpstream) -> None:
    failed(upstream, "bare")
    with pytest.raises(UpstreamError) as caught:
        upstream.ask("bare")
    assert caught.value.kind == "output_limit"
