"""OpenAI's legacy completions: one prompt, no roles. Shapes: the SDK's types; its streams repeat the reply's object name."""

import time
import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gateway.chat import ChatRequest, Message, TextPart
from gateway.errors import BadRequest
from gateway.reply import PanelReply
from gateway.wire.contract import Rendered, Route, StreamEncoder
from gateway.wire.openai_shape import KEEPALIVE, chunks_end, data_event, usage

# Functions of this format, as of every other; OpenAI's formats share them.
from gateway.wire.openai_shape import render_count as render_count
from gateway.wire.openai_shape import render_error as render_error
from gateway.wire.openai_shape import render_model as render_model
from gateway.wire.openai_shape import render_models as render_models
from gateway.wire.reading import Fields, ignored_names, kind_of, read_bench, refuse_tools

NAME = "openai_completions"
PREFIXES: tuple[str, ...] = ("v1/completions", "completions")
ROUTES: tuple[Route, ...] = (
    Route("POST", "v1/completions", "generate", streams="when_asked"),
    Route("POST", "completions", "generate", streams="when_asked"),
)

_UNDERSTOOD = frozenset({"model", "prompt", "stream", "stream_options", "bench", "with", "tools", "functions", "tool_choice"})


def parse_request(payload: Any, route: Route, **path: str) -> ChatRequest:
    body = Fields(payload)
    refuse_tools(body)
    return ChatRequest(
        format=NAME,
        model=body.text("model"),
        messages=(Message("user", (TextPart(_prompt(body.get("prompt"))),)),),
        stream=body.flag("stream"),
        include_usage=body.object("stream_options").flag("include_usage"),
        ignored=ignored_names(body, _UNDERSTOOD),
        bench=read_bench(body),
    )


def render_reply(reply: PanelReply, route: Route) -> Rendered:
    body = {
        "id": f"cmpl-{reply.panel.id}",
        "object": "text_completion",
        "created": int(reply.panel.created),
        "model": reply.panel.model,
        "choices": [_choice(reply.content, finish_reason="stop")],
        "usage": usage(reply),
        **reply.bench_field(),
    }
    return Rendered(body)


def stream_encoder(chat: ChatRequest, route: Route) -> StreamEncoder:
    return _Chunks(chat)


class _Chunks:
    """`data:` chunks whose text is always a string."""

    content_type = "text/event-stream"
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, chat: ChatRequest) -> None:
        self._include_usage = chat.include_usage
        self._common = {
            "id": f"cmpl-{uuid.uuid4().hex}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": chat.model,
        }

    def start(self) -> tuple[bytes, ...]:
        # The format has no first chunk; without a byte of body the headers would wait for the first text.
        return (b": the panel is seated\n\n",)

    def text(self, piece: str) -> tuple[bytes, ...]:
        return (self._chunk(_choice(piece)),)

    def keepalive(self) -> tuple[bytes, ...]:
        return (KEEPALIVE,)

    def finish(self, reply: PanelReply) -> tuple[bytes, ...]:
        last = self._chunk(_choice("", finish_reason="stop"), **reply.bench_field())
        return (last, *chunks_end(self._common, reply, include_usage=self._include_usage))

    def error(self, status: int, message: str, **extra: Any) -> tuple[bytes, ...]:
        return (data_event(render_error(status, message, **extra)),)

    def _chunk(self, choice: dict[str, Any], **extra: Any) -> bytes:
        return data_event({**self._common, "choices": [choice], **extra})


def _choice(text: str, finish_reason: str | None = None) -> dict[str, Any]:
    return {"text": text, "index": 0, "logprobs": None, "finish_reason": finish_reason}


def _prompt(prompt: Any) -> str:
    """The one prompt: a string, or a list of one string."""
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        return prompt[0]
    if isinstance(prompt, str):
        return prompt
    raise BadRequest(_why_not(prompt), param="prompt")


def _why_not(prompt: Any) -> str:
    if prompt is None or prompt == []:
        return "prompt must hold the text to answer: a panel does not go on from nothing."
    if not isinstance(prompt, list):
        return f"prompt must be a string, not {kind_of(prompt)}."
    if all(isinstance(item, str) for item in prompt):
        return f"prompt holds {len(prompt)} prompts; a panel answers one. Send one string, and one request for each prompt."
    if all(_is_token(item) for item in prompt) or all(_is_tokens(item) for item in prompt):
        return "prompt holds token ids, which differ from model to model. Send the text itself."
    return f"prompt must be a string, not a list that holds {kind_of(next(i for i in prompt if not isinstance(i, str)))}."


def _is_token(item: Any) -> bool:
    return type(item) is int


def _is_tokens(item: Any) -> bool:
    return isinstance(item, list) and all(map(_is_token, item))
