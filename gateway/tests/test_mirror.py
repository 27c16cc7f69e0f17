"""The mirror: what upstream/x asks, wire/x understands, and what wire/x answers, upstream/x reads; for all that are both.

A format is found by its name in both registries: one that is added is tested here by being added.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateway.chat import ChatRequest, ImagePart, Message, TextPart
from gateway.reply import PanelReply
from gateway.tests.replies import panel_reply, seat_answer
from gateway.upstream import PROTOCOLS
from gateway.upstream.answer import Gathering
from gateway.upstream.answer.thinking import split_thinking
from gateway.upstream.contract import Completion, UpstreamError, UpstreamProtocol
from gateway.upstream.sse import lines
from gateway.wire import FORMATS
from gateway.wire.contract import Route, WireFormat

BOTH = sorted(FORMATS.keys() & PROTOCOLS.keys())
MODEL = "bench/core"
# What a format insists on, or what keeps a server from cutting the prompt: a panel has no use for either.
MUST_BE_SENT = {"max_tokens", "truncate", "shift"}
# What a server calls whole, in any format's word.
WHOLE = {"stop", "end_turn", "completed", "STOP"}
PICTURES = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff\xe0", "gif": b"GIF89a", "webp": b"RIFF\x10\x00\x00\x00WEBP"}

either = pytest.mark.parametrize("name", BOTH)
# Half a surrogate pair is no text, and no format can carry one.
characters = st.characters(exclude_categories=("Cs",))
texts = st.text(characters, min_size=1, max_size=60).filter(str.strip)
pictures = st.builds(
    lambda kind, rest: ImagePart(f"data:image/{kind};base64,{base64.b64encode(PICTURES[kind] + rest).decode()}"),
    st.sampled_from(sorted(PICTURES)),
    st.binary(max_size=20),
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Perhaps a system text, then turns of the user and of the model; the user's may show images and comes last."""
    said = [Message("system", (TextPart(draw(texts)),))] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 3))):
        said += [draw(user_turns()), Message("assistant", (TextPart(draw(texts)),))]
    return (*said, draw(user_turns()))


def user_turns() -> st.SearchStrategy[Message]:
    return st.builds(
        lambda text, images: Message("user", (TextPart(text), *images)), texts, st.lists(pictures, max_size=2).map(tuple)
    )


def test_there_is_something_to_mirror() -> None:
    assert {"openai_chat"} <= set(BOTH)


@either
@given(messages=conversations())
@settings(max_examples=60, deadline=None)
def test_a_request_is_understood_as_it_was_meant(name: str, messages: tuple[Message, ...]) -> None:
    chat = asked(name, messages)
    assert chat.messages == messages
    assert chat.model == MODEL
    assert set(chat.ignored) <= MUST_BE_SENT


@either
def test_an_image_by_url_arrives_or_is_refused_before_it_is_sent(name: str) -> None:
    messages = (Message("user", (TextPart("What is this?"), ImagePart("https://photos.example/a.png?size=9"))),)
    try:
        assert asked(name, messages).messages == messages
    except UpstreamError as refusal:
        assert "URL" in refusal.message
        assert refusal.kind == "refused"


@either
@given(text=st.text(characters, max_size=200))
@settings(max_examples=60, deadline=None)
def test_a_whole_reply_is_read_as_it_was_written(name: str, text: str) -> None:
    reply = replied(f"# bench/core\n\n{text}")
    assume(holds_no_thoughts(reply.content))
    body = json.dumps(FORMATS[name].render_reply(reply, whole_route(FORMATS[name])).body)
    check(PROTOCOLS[name].parse_reply(json.loads(body)), reply)


@either
@given(pieces=st.lists(st.text(characters, max_size=60), max_size=6), cut=st.integers(1, 50))
@settings(max_examples=60, deadline=None)
def test_a_stream_is_read_as_it_was_written_wherever_it_is_cut(name: str, pieces: list[str], cut: int) -> None:
    pieces = ["# bench/core\n\n", *pieces]
    reply = replied("".join(pieces))
    assume(holds_no_thoughts(reply.content))
    encoder = FORMATS[name].stream_encoder(chat(name), stream_route(FORMATS[name]))
    events = [*encoder.start(), *encoder.keepalive()]
    for piece in pieces:
        events += [*encoder.text(piece), *encoder.keepalive()]
    streamed = read(PROTOCOLS[name], b"".join([*events, *encoder.finish(reply)]), cut)
    check(streamed, reply)
    whole = PROTOCOLS[name].parse_reply(FORMATS[name].render_reply(reply, whole_route(FORMATS[name])).body)
    assert (streamed.text, streamed.finish_reason) == (whole.text, whole.finish_reason)


@either
def test_a_stream_that_ends_in_an_error_is_read_as_one(name: str) -> None:
    encoder = FORMATS[name].stream_encoder(chat(name), stream_route(FORMATS[name]))
    events = [*encoder.start(), *encoder.text("# bench/core"), *encoder.error(502, "No seat answered.")]
    with pytest.raises(UpstreamError, match="No seat answered"):
        read(PROTOCOLS[name], b"".join(events), 7)


@either
def test_a_stream_that_is_cut_off_is_no_answer(name: str) -> None:
    encoder = FORMATS[name].stream_encoder(chat(name), stream_route(FORMATS[name]))
    with pytest.raises(UpstreamError):
        read(PROTOCOLS[name], b"".join([*encoder.start(), *encoder.text("# bench/core")]), 7)


@either
@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "refused"), (401, "unauthorized"), (404, "not_found"), (413, "context_too_long"), (429, "rate_limited")],
)
def test_a_refusal_is_read_as_one(name: str, status: int, kind: str) -> None:
    body = FORMATS[name].render_error(status, "It cannot be.", code=None, param=None)
    error = PROTOCOLS[name].parse_error(status, {"Retry-After": "7"}, json.dumps(body).encode())
    assert (error.kind, error.status) == (kind, status)
    assert "It cannot be." in error.message
    assert error.retry_after == (7 if kind == "rate_limited" else None)


def asked(name: str, messages: tuple[Message, ...]) -> ChatRequest:
    """What wire/x understands of what upstream/x asks."""
    route = stream_route(FORMATS[name])
    body = json.loads(json.dumps(PROTOCOLS[name].build_request(MODEL, messages, {})))
    chat = FORMATS[name].parse_request(body, route, **({"model": MODEL} if "<path:model>" in route.path else {}))
    assert isinstance(chat, ChatRequest)
    return chat


def chat(name: str) -> ChatRequest:
    """A streamed request as wire/x reads it, so that everything is streamed that upstream/x asks for."""
    return asked(name, (Message("user", (TextPart("hi"),)),))


def whole_route(wire: WireFormat) -> Route:
    return next(route for route in _generating(wire) if route.streams != "always")


def stream_route(wire: WireFormat) -> Route:
    """The route that streams, in the form that its SDKs ask for where there are two."""
    route = next(route for route in _generating(wire) if route.streams != "never")
    return replace(route, variant="sse") if route.query else route


def _generating(wire: WireFormat) -> Iterator[Route]:
    return (route for route in wire.ROUTES if route.task == "generate")


def read(protocol: UpstreamProtocol, stream: bytes, cut: int) -> Completion:
    gathering = Gathering()
    for delta in protocol.parse_stream(lines(stream[start : start + cut] for start in range(0, len(stream), cut))):
        gathering.add(delta)
    return gathering.completion()


def check(completion: Completion, reply: PanelReply) -> None:
    assert completion.text == reply.content
    assert completion.finish_reason in WHOLE
    assert (completion.input_tokens, completion.output_tokens) == (reply.panel.prompt_tokens, reply.completion_tokens)
    assert completion.model.removesuffix(":latest") == MODEL
    assert not completion.reasoning


def holds_no_thoughts(text: str) -> bool:
    """Whether all of a text is the answer: after a mark that closes a thought, what came before it is not."""
    return split_thinking(text) == ("", text)


def replied(content: str) -> PanelReply:
    panel = {
        "id": "p20261129-210937-ebfe",
        "model": MODEL,
        "collection": MODEL,
        "prompt_tokens": 12,
        "created": 1_796_000_000.0,
    }
    seat = seat_answer(call=f"{panel['id']}.member1")
    return panel_reply(seat, content=content, completion_tokens=34, **panel)
