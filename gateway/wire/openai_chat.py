"""OpenAI chat completions. Shapes: the SDK's types and stream readers, in openai 1.x to 3.x for Python and 6.x for JS."""

import time
import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gateway.chat import ChatRequest, Message, Part, TextPart
from gateway.errors import BadRequest
from gateway.reply import PanelReply
from gateway.wire.contract import Rendered, Route, StreamEncoder
from gateway.wire.openai_shape import KEEPALIVE, chunks_end, data_event, panel_comment, parts_of, role_of, usage

# Functions of this format, as of every other; OpenAI's formats share them.
from gateway.wire.openai_shape import render_count as render_count
from gateway.wire.openai_shape import render_error as render_error
from gateway.wire.openai_shape import render_model as render_model
from gateway.wire.openai_shape import render_models as render_models
from gateway.wire.reading import TOOLS_REFUSED, Fields, ignored_names, image, read_bench, refuse_tools, required_text

NAME = "openai_chat"
PREFIXES: tuple[str, ...] = ("",)
ROUTES: tuple[Route, ...] = (
    Route("POST", "v1/chat/completions", "generate", streams="when_asked"),
    Route("POST", "chat/completions", "generate", streams="when_asked"),
    Route("GET", "v1/models", "list_models"),
    Route("GET", "models", "list_models"),
    Route("GET", "v1/models/<path:model>", "show_model"),
    Route("GET", "models/<path:model>", "show_model"),
)

_UNDERSTOOD = frozenset(
    {"model", "messages", "stream", "stream_options", "bench", "with", "tools", "functions", "tool_choice", "function_call"}
)
_OF_MESSAGES = ("name", "reasoning_content", "reasoning", "reasoning_details")


def parse_request(payload: Any, route: Route, **path: str) -> ChatRequest:
    body = Fields(payload)
    refuse_tools(body)
    messages = tuple(_message(fields) for fields in body.objects("messages"))
    if not messages:
        raise BadRequest('messages must hold at least one message, such as {"role": "user", "content": "…"}.', param="messages")
    return ChatRequest(
        format=NAME,
        model=body.text("model"),
        messages=messages,
        stream=body.flag("stream"),
        include_usage=body.object("stream_options").flag("include_usage"),
        ignored=(*ignored_names(body, _UNDERSTOOD), *_ignored_of_messages(body)),
        bench=read_bench(body),
    )


def render_reply(reply: PanelReply, route: Route) -> Rendered:
    body = {
        "id": f"chatcmpl-{reply.panel.id}",
        "object": "chat.completion",
        "created": int(reply.panel.created),
        "model": reply.panel.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.content, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": usage(reply),
        **reply.bench_field(),
    }
    return Rendered(body)


def stream_encoder(chat: ChatRequest, route: Route) -> StreamEncoder:
    return _Chunks(chat)


class _Chunks:
    """`data:` chunks. The role goes once: repeated, the Python helper reads "assistantassistant"."""

    content_type = "text/event-stream"
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, chat: ChatRequest) -> None:
        self._include_usage = chat.include_usage
        self._common = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": chat.model,
        }

    def start(self) -> tuple[bytes, ...]:
        return (self._chunk({"role": "assistant", "content": ""}),)

    def seated(self, panel_id: str) -> tuple[bytes, ...]:
        return (panel_comment(panel_id),)

    def text(self, piece: str) -> tuple[bytes, ...]:
        return (self._chunk({"content": piece}),)

    def keepalive(self) -> tuple[bytes, ...]:
        return (KEEPALIVE,)

    def finish(self, reply: PanelReply) -> tuple[bytes, ...]:
        last = self._chunk({}, finish_reason="stop", **reply.bench_field())
        return (last, *chunks_end(self._common, reply, include_usage=self._include_usage))

    def error(self, status: int, message: str, **extra: Any) -> tuple[bytes, ...]:
        return (data_event(render_error(status, message, **extra)),)

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None, **extra: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return data_event({**self._common, "choices": [choice], **extra})


def _ignored_of_messages(body: Fields) -> tuple[str, ...]:
    """What no seat gets of messages: who speaks, and a model's own earlier reasoning by whichever name it came."""
    said = {name for fields in body.objects("messages") for name in fields.names()}
    return tuple(f"messages.{name}" for name in _OF_MESSAGES if name in said)


def _message(fields: Fields) -> Message:
    role = fields.text("role")
    if role in ("tool", "function") or fields.items("tool_calls") or fields.get("function_call"):
        raise BadRequest(TOOLS_REFUSED, param=fields.path("role"))
    return Message(role_of(fields), _parts(fields))


def _parts(fields: Fields) -> tuple[Part, ...]:
    if fields.get("content") is None and fields.text("role") == "assistant":
        return (TextPart(fields.text("refusal")),)
    return parts_of(fields, _part)


def _part(fields: Fields) -> Part:
    kind = fields.text("type")
    if kind in ("text", "refusal"):
        return TextPart(required_text(fields, kind))
    if kind == "image_url":
        where = fields.path("image_url")
        source = fields.get("image_url")
        return image(source if isinstance(source, str) else fields.object("image_url").text("url"), where)
    raise BadRequest(
        f'{fields.path("type")}: "{kind[:40]}" parts cannot go to a panel. Send text parts, '
        "or images as image_url with an http(s):// or data:image/… URL; for a PDF, audio or a file, send its text.",
        param=fields.path("type"),
    )
