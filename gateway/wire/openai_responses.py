"""OpenAI Responses, none of which is stored. Shapes: the SDK's types and stream helpers in openai 1.x to 3.x, 6.x for JS."""

import time
import uuid
from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

from gateway.chat import ChatRequest, Message, Part, TextPart
from gateway.errors import BadRequest
from gateway.reply import PanelReply
from gateway.wire.contract import Rendered, Route, StreamEncoder
from gateway.wire.openai_shape import KEEPALIVE, data_event, parts_of, role_of

# Functions of this format, as of every other; OpenAI's formats share them.
from gateway.wire.openai_shape import render_error as render_error
from gateway.wire.openai_shape import render_model as render_model
from gateway.wire.openai_shape import render_models as render_models
from gateway.wire.reading import TOOLS_REFUSED, Fields, ignored_names, image, kind_of, read_bench, refuse_tools, required_text

NAME = "openai_responses"
PREFIXES: tuple[str, ...] = ("v1/responses", "responses")
ROUTES: tuple[Route, ...] = (
    Route("POST", "v1/responses", "generate", streams="when_asked"),
    Route("POST", "responses", "generate", streams="when_asked"),
    Route("POST", "v1/responses/input_tokens", "count_tokens"),
    Route("POST", "responses/input_tokens", "count_tokens"),
)

_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
_UNDERSTOOD = frozenset(
    {"model", "input", "instructions", "stream", "background", "bench", "with", "tools", "functions", "tool_choice"}
)
_STORED = {
    "previous_response_id": "No response is stored to go on from. Send the whole conversation as input: "
    "its messages and the output items of earlier responses.",
    "conversation": "No conversation is stored. Send its messages as input.",
    "prompt": "No prompt is stored. Send its text as instructions or input.",
}
_NOT_BACKGROUND = (
    "No response is stored to be fetched later. Leave background out, and stream the reply if it takes long; "
    "a panel runs to its end even when its caller leaves, and GET /bench/panels/<panel> reads it back."
)
_REFERENCE = "No item is stored that could be referred to. Send the item itself."


def parse_request(payload: Any, route: Route, **path: str) -> ChatRequest:
    body = Fields(payload)
    if route.task != "count_tokens":
        # A count calls no model: tools do it no harm.
        refuse_tools(body)
    _refuse_stored(body)
    items = _items(body)
    said = [item for item in items if item.get("type") != "reasoning"]
    # Nothing is stored, whatever is asked: who asks for that has not been ignored.
    ignored = ignored_names(body, _UNDERSTOOD | ({"store"} if body.get("store") is False else set()))
    return ChatRequest(
        format=NAME,
        model=body.text("model"),
        messages=_messages(body, said),
        stream=body.flag("stream"),
        ignored=ignored if len(said) == len(items) else (*ignored, "input.reasoning"),
        bench=read_bench(body),
    )


def render_reply(reply: PanelReply, route: Route) -> Rendered:
    about = {"id": f"resp_{reply.panel.id}", "created_at": int(reply.panel.created), "model": reply.panel.model}
    return Rendered(_completed(about, _item(f"msg_{reply.panel.id}", reply.content), reply))


def render_count(tokens: int) -> dict[str, Any]:
    return {"object": "response.input_tokens", "input_tokens": tokens}


def stream_encoder(chat: ChatRequest, route: Route) -> StreamEncoder:
    return _Events(chat)


class _Events:
    """Typed events, numbered from 0. The helpers insist on this order, and on ids that do not change."""

    content_type = "text/event-stream"
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, chat: ChatRequest) -> None:
        name = uuid.uuid4().hex
        self._about = {"id": f"resp_{name}", "created_at": int(time.time()), "model": chat.model}
        self._item_id = f"msg_{name}"
        self._item_place = {"output_index": 0}
        self._place = {"item_id": self._item_id, "output_index": 0, "content_index": 0}
        self._numbers = count()
        self._pieces: list[str] = []

    def start(self) -> tuple[bytes, ...]:
        response = _response(self._about, "in_progress")
        item = {**_item(self._item_id, "", "in_progress"), "content": []}
        return (
            self._event("response.created", response=response),
            self._event("response.in_progress", response=response),
            self._event("response.output_item.added", **self._item_place, item=item),
            self._event("response.content_part.added", **self._place, part=_text_part("")),
        )

    def text(self, piece: str) -> tuple[bytes, ...]:
        self._pieces.append(piece)
        return (self._event("response.output_text.delta", **self._place, delta=piece, logprobs=[]),)

    def keepalive(self) -> tuple[bytes, ...]:
        return (KEEPALIVE,)

    def finish(self, reply: PanelReply) -> tuple[bytes, ...]:
        # What has been streamed, in the order in which seats finished: a helper's whole text is the sum of its pieces.
        text = "".join(self._pieces)
        item = _item(self._item_id, text)
        return (
            self._event("response.output_text.done", **self._place, text=text, logprobs=[]),
            self._event("response.content_part.done", **self._place, part=_text_part(text)),
            self._event("response.output_item.done", **self._item_place, item=item),
            self._event("response.completed", response=_completed(self._about, item, reply)),
        )

    def error(self, status: int, message: str, **extra: Any) -> tuple[bytes, ...]:
        error = render_error(status, message, code=extra.get("code"), param=extra.get("param"))["error"]
        code = "rate_limit_exceeded" if status == 429 else "server_error"
        item = _item(self._item_id, "".join(self._pieces), "incomplete")
        bench = {"bench": extra["bench"]} if extra.get("bench") else {}
        failed = _response(self._about, "failed", [item], error={"code": code, "message": message}, **bench)
        flat = {"code": error["code"] or code, "message": message, "param": error["param"]}
        return (
            # The documented event is flat, and no SDK raises on it: they do on a top-level `error`.
            self._event("error", **flat, error=error),
            self._event("response.failed", response=failed),
        )

    def _event(self, kind: str, **fields: Any) -> bytes:
        data = data_event({"type": kind, "sequence_number": next(self._numbers), **fields})
        return b"event: " + kind.encode("ascii") + b"\n" + data


def _completed(about: Mapping[str, Any], item: dict[str, Any], reply: PanelReply) -> dict[str, Any]:
    return _response(about, "completed", [item], usage=_usage(reply), **reply.bench_field())


def _response(about: Mapping[str, Any], status: str, output: Sequence[Any] = (), **known: Any) -> dict[str, Any]:
    """A response. Settings that a panel does not pass on have the API's own defaults, or null."""
    return {
        **about,
        "object": "response",
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "output": list(output),
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": None,
        "user": None,
        **known,
    }


def _item(name: str, text: str, status: str = "completed") -> dict[str, Any]:
    return {"id": name, "type": "message", "status": status, "role": "assistant", "content": [_text_part(text)]}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(reply: PanelReply) -> dict[str, Any]:
    return {
        "input_tokens": reply.panel.prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reply.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.panel.prompt_tokens + reply.completion_tokens,
    }


def _refuse_stored(body: Fields) -> None:
    for name, why in _STORED.items():
        if body.get(name) is not None:
            raise BadRequest(why, param=name)
    if body.flag("background"):
        raise BadRequest(_NOT_BACKGROUND, param="background")


def _items(body: Fields) -> list[Fields]:
    """The input as items; a string is one message."""
    source = body.get("input")
    if isinstance(source, str):
        return [Fields({"role": "user", "content": source}, "input")]
    if not isinstance(source, list):
        raise BadRequest(f"input must be a string or a list of items, not {kind_of(source)}.", param="input")
    return list(body.objects("input"))


def _messages(body: Fields, said: Sequence[Fields]) -> tuple[Message, ...]:
    if not said:
        raise BadRequest('input must hold at least one message, such as {"role": "user", "content": "…"}.', param="input")
    instructions = body.text("instructions")
    first = (Message("system", (TextPart(instructions),)),) if instructions else ()
    return (*first, *map(_message, said))


def _message(item: Fields) -> Message:
    kind = item.text("type")
    if kind == "item_reference" or (not kind and item.get("role") is None and item.get("id") is not None):
        raise BadRequest(_REFERENCE, param=item.path("type"))
    if kind in ("additional_tools", "program") or kind.endswith(("_call", "_output")) or kind.startswith("mcp_"):
        raise BadRequest(TOOLS_REFUSED, param=item.path("type"))
    if kind not in ("", "message"):
        raise BadRequest(
            f'{item.path("type")}: "{kind[:40]}" items cannot go to a panel. '
            'Send messages, such as {"role": "user", "content": "…"}.',
            param=item.path("type"),
        )
    return Message(role_of(item), parts_of(item, _part))


def _part(part: Fields) -> Part:
    kind = part.text("type")
    if kind in _TEXTS:
        return TextPart(required_text(part, _TEXTS[kind]))
    if kind == "input_image":
        if part.get("file_id") is not None:
            raise BadRequest(
                "No file is stored that could be shown. Send the image as image_url, an http(s):// or data:image/… URL.",
                param=part.path("file_id"),
            )
        return image(part.text("image_url"), part.path("image_url"))
    raise BadRequest(
        f'{part.path("type")}: "{kind[:40]}" parts cannot go to a panel. Send input_text parts, '
        "or images as input_image with an http(s):// or data:image/… URL; for a PDF, audio or a file, send its text.",
        param=part.path("type"),
    )
