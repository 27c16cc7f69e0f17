"""Anthropic Messages. Shapes: the SDK's types and stream readers, in anthropic 0.x and 2.x for Python and 1.x for JS.

Any anthropic-version is taken and none is compared: generations of the SDK send different ones for the same shapes.
"""

import json
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gateway.chat import ChatRequest, ImagePart, Message, Part, Role, TextPart
from gateway.errors import BadRequest
from gateway.reply import PanelReply
from gateway.wire.contract import ListedCollection, Rendered, Route, StreamEncoder
from gateway.wire.reading import TOOLS_REFUSED, Fields, ignored_names, image, kind_of, read_bench, required_text

NAME = "anthropic_messages"
PREFIXES: tuple[str, ...] = ("v1/messages", "messages")
ROUTES: tuple[Route, ...] = (
    Route("POST", "v1/messages", "generate", streams="when_asked"),
    Route("POST", "messages", "generate", streams="when_asked"),
    Route("POST", "v1/messages/count_tokens", "count_tokens"),
    Route("POST", "messages/count_tokens", "count_tokens"),
)

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_UNDERSTOOD = frozenset({"model", "messages", "system", "stream", "bench", "with", "tools", "mcp_servers", "tool_choice"})
_THOUGHTS = ("thinking", "redacted_thinking")
_BLOCKS = ("text", "image", "document", "search_result", *_THOUGHTS)
_ERRORS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    **dict.fromkeys((503, 529), "overloaded_error"),
}


def parse_request(payload: Any, route: Route, **path: str) -> ChatRequest:
    body = Fields(payload)
    for name in ("tools", "mcp_servers"):
        # A count of a request with tools is of its text: clients count before they know that a panel runs none.
        if body.items(name) and route.task == "generate":
            raise BadRequest(TOOLS_REFUSED, param=name)
    messages = [_message(fields) for fields in body.objects("messages")]
    if not any(message.parts for message in messages):
        raise BadRequest('messages must hold at least one message, such as {"role": "user", "content": "…"}.', param="messages")
    system = () if body.get("system") in (None, []) else _parts(body, "system", ("text",))
    return ChatRequest(
        format=NAME,
        model=body.text("model"),
        # A message of thinking alone is left with nothing to say.
        messages=tuple(message for message in (Message("system", system), *messages) if message.parts),
        stream=body.flag("stream"),
        ignored=_ignored(body),
        bench=read_bench(body),
    )


def render_reply(reply: PanelReply, route: Route) -> Rendered:
    body = {
        "id": f"msg_{reply.panel.id}",
        **_message_fields(reply.panel.model),
        "content": [{"type": "text", "text": reply.content}],
        "stop_reason": "end_turn",
        "usage": _usage(reply),
        **reply.bench_field(),
    }
    return Rendered(body, {"request-id": f"req_{reply.panel.id}"})


def render_count(tokens: int) -> dict[str, Any]:
    return {"input_tokens": tokens}


def render_models(collections: Sequence[ListedCollection]) -> dict[str, Any]:
    """Every collection at once: has_more tells the SDKs that there is no page after this one."""
    data = [render_model(collection) for collection in collections]
    ids = [model["id"] for model in data] or [None]
    return {"data": data, "has_more": False, "first_id": ids[0], "last_id": ids[-1]}


def render_model(collection: ListedCollection) -> dict[str, Any]:
    return {
        "type": "model",
        "id": collection.id,
        "display_name": collection.id,
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(collection.created)),
        "lifecycle": "active",
        "max_input_tokens": collection.context_window,
        "max_tokens": collection.output_limit,
        **collection.as_bench(),
    }


def render_error(status: int, message: str, **extra: Any) -> dict[str, Any]:
    kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    body: dict[str, Any] = {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": extra.get("request_id") or f"req_{uuid.uuid4().hex}",
    }
    if extra.get("bench"):
        body["bench"] = extra["bench"]
    return body


def error_headers(body: Mapping[str, Any]) -> dict[str, str]:
    """The SDKs read a refusal's id from its header, people read it in the body: the same."""
    return {"request-id": str(body["request_id"])}


def stream_encoder(chat: ChatRequest, route: Route) -> StreamEncoder:
    return _Events(chat)


class _Events:
    """Named events around one text block. Without its `event:` line an event is dropped by the SDKs."""

    content_type = "text/event-stream"

    def __init__(self, chat: ChatRequest) -> None:
        self._model = chat.model
        self.headers: Mapping[str, str] = {"request-id": f"req_{uuid.uuid4().hex}"}

    def start(self) -> tuple[bytes, ...]:
        """Open the message and its block: helpers die on a delta without them. The prompt's size comes in message_delta."""
        begun: dict[str, Any] = {"content": [], "stop_reason": None, "usage": {"input_tokens": 0, "output_tokens": 1}}
        message = {"id": f"msg_{uuid.uuid4().hex}", **_message_fields(self._model), **begun}
        return (
            _event("message_start", message=message),
            _event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            *self.keepalive(),
        )

    def text(self, piece: str) -> tuple[bytes, ...]:
        return (_event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece}),)

    def keepalive(self) -> tuple[bytes, ...]:
        return (_event("ping"),)

    def finish(self, reply: PanelReply) -> tuple[bytes, ...]:
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        delta = _event("message_delta", delta=ended, usage=_usage(reply), **reply.bench_field())
        return (_event("content_block_stop", index=0), delta, _event("message_stop"))

    def error(self, status: int, message: str, **extra: Any) -> tuple[bytes, ...]:
        body = render_error(status, message, **{**extra, "request_id": self.headers["request-id"]})
        return (_event(body.pop("type"), **body),)


def _event(kind: str, **fields: Any) -> bytes:
    """One event, in ASCII: some readers split lines at characters that JSON allows in strings."""
    data = json.dumps({"type": kind, **fields}).encode("ascii")
    return b"event: " + kind.encode("ascii") + b"\ndata: " + data + b"\n\n"


def _message_fields(model: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "model": model, "stop_sequence": None}


def _usage(reply: PanelReply) -> dict[str, int]:
    return {"input_tokens": reply.panel.prompt_tokens, "output_tokens": reply.completion_tokens}


def _ignored(body: Fields) -> tuple[str, ...]:
    """The settings that a panel does not pass on, and a model's own earlier thinking."""
    names = ignored_names(body, _UNDERSTOOD)
    lists = (message for message in body.objects("messages") if isinstance(message.get("content"), list))
    kinds = {block.text("type") for message in lists for block in message.objects("content")}
    return (*names, *(kind for kind in _THOUGHTS if kind in kinds and kind not in names))


def _message(fields: Fields) -> Message:
    role = fields.text("role")
    if role not in _ROLES:
        where = fields.path("role")
        raise BadRequest(f'{where} must be one of {", ".join(_ROLES)}, not "{role[:40]}".', param=where)
    return Message(_ROLES[role], _parts(fields, "content", ("text",) if role == "system" else _BLOCKS))


def _parts(fields: Fields, name: str, blocks: Collection[str]) -> tuple[Part, ...]:
    content = fields.get(name)
    if isinstance(content, str):
        return (TextPart(content),)
    if not isinstance(content, list) or not content:
        where = fields.path(name)
        what = "an empty list" if content == [] else kind_of(content)
        raise BadRequest(f"{where} must be a string or a list of blocks, not {what}.", param=where)
    return tuple(part for block in fields.objects(name) for part in _block(block, blocks))


def _block(fields: Fields, blocks: Collection[str]) -> tuple[Part, ...]:
    kind = fields.text("type")
    if kind.endswith(("tool_use", "tool_result")):
        raise BadRequest(TOOLS_REFUSED, param=fields.path("type"))
    if kind not in blocks:
        raise BadRequest(
            f'{fields.path("type")}: "{kind[:40]}" blocks cannot go here. Send {", ".join(blocks)}; for a file, its text.',
            param=fields.path("type"),
        )
    match kind:
        case "text":
            return (TextPart(required_text(fields, "text")),)
        case "image":
            return (_image(fields.object("source")),)
        case "document":
            return (*_about(fields, "title", "context"), *_document(fields.object("source")))
        case "search_result":
            # The caller's own text with where it is from, not a tool's result: it needs no tool to have been called.
            return (*_about(fields, "title", "source"), *_parts(fields, "content", ("text",)))
    return ()


def _about(fields: Fields, *names: str) -> tuple[TextPart, ...]:
    return tuple(TextPart(words) for name in names if (words := fields.text(name)))


def _image(source: Fields) -> ImagePart:
    kind, media_type = source.text("type"), source.text("media_type")
    if kind == "url":
        return image(source.text("url"), source.path("url"))
    if kind == "base64" and media_type.lower().startswith("image/"):
        return image(f"data:{media_type};base64,{required_text(source, 'data')}", source.path("data"))
    raise BadRequest(
        f"{source.path('type')}: a panel takes images of source "
        '{"type": "base64", "media_type": "image/png", "data": "…"} or {"type": "url", "url": "https://…"}, '
        "not by file id and of no other media type.",
        param=source.path("type"),
    )


def _document(source: Fields) -> tuple[Part, ...]:
    kind = source.text("type")
    if kind == "text":
        return (TextPart(required_text(source, "data")),)
    if kind == "content":
        return _parts(source, "content", ("text", "image"))
    where = source.path("type")
    words = f'{where}: PDFs and files cannot go to a panel. Send the text, as a source of type "text", or pages as images.'
    raise BadRequest(words, param=where)
