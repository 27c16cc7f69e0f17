"""Gemini's generateContent, v1beta and v1. Shapes: the SDK's types and stream readers, in google-genai 1.x and 3.x for Python
and 2.x for JS.

Has no `bench` field: the panel and its seats go into headers.
"""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from gateway.chat import ChatRequest
from gateway.errors import BadRequest, NotFound
from gateway.reply import PanelReply
from gateway.wire.contract import ListedCollection, Rendered, Route, StreamEncoder
from gateway.wire.gemini_turns import CamelFields, read_system, read_turns
from gateway.wire.reading import Fields, ignored_names, read_bench, refuse_tools

NAME = "gemini"
PREFIXES: tuple[str, ...] = ("v1beta/",)
_VERSIONS = ("v1beta", "v1")
_VERBS = ("generateContent", "streamGenerateContent", "countTokens")
# What SDKs ask of models that a panel is not.
_OTHER_VERBS = (
    "embedContent",
    "batchEmbedContents",
    "asyncBatchEmbedContent",
    "batchGenerateContent",
    "predict",
    "predictLongRunning",
    "generateAnswer",
)
# The verb is what follows the last colon: a collection's name may have one of its own.
ROUTES: tuple[Route, ...] = (
    *(Route("POST", f"{v}/models/<path:model>:generateContent", "generate") for v in _VERSIONS),
    *(
        Route("POST", f"{v}/models/<path:model>:streamGenerateContent", "generate", streams="always", query="alt")
        for v in _VERSIONS
    ),
    *(Route("POST", f"{v}/models/<path:model>:countTokens", "count_tokens") for v in _VERSIONS),
    *(
        Route("POST", f"{v}/models/<path:model>:{verb}", "generate", variant="unserved")
        for v in _VERSIONS
        for verb in _OTHER_VERBS
    ),
    Route("GET", "v1beta/models", "list_models"),
    Route("GET", "v1beta/models/<path:model>", "show_model"),
)

_UNDERSTOOD = frozenset(
    {"model", "contents", "systemInstruction", "generationConfig", "bench", "with", "tools", "toolConfig", "cachedContent"}
)
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
# Proxies give all headers of a reply one page of memory.
_LONGEST_SEATS = 3000


def parse_request(payload: Any, route: Route, **path: str) -> ChatRequest:
    if route.variant == "unserved":
        raise NotFound(f"A panel does not serve this: it answers {', '.join(_VERBS)}, and nothing else.")
    body: Fields = CamelFields(payload)
    if route.task == "count_tokens" and body.get("generateContentRequest") is not None:
        body = body.object("generateContentRequest")
    if route.task == "generate":
        refuse_tools(body)
    if body.get("cachedContent") is not None:
        raise BadRequest(
            "cachedContent names a thing that is stored elsewhere, and no seat can read it: send the text itself in contents.",
            param="cachedContent",
        )
    ignored: list[str] = []
    turns = list(read_turns(body, ignored))
    if not turns:
        raise BadRequest(
            'contents must hold at least one turn, such as {"role": "user", "parts": [{"text": "…"}]}.', param="contents"
        )
    return ChatRequest(
        format=NAME,
        model=path["model"].removeprefix("models/"),
        messages=(*read_system(body, ignored), *turns),
        stream=route.streams == "always",
        ignored=_named(body, ignored),
        bench=read_bench(body),
    )


def render_reply(reply: PanelReply, route: Route) -> Rendered:
    body = {
        "candidates": [_candidate(reply.content, finishReason="STOP")],
        "usageMetadata": _usage(reply),
        "modelVersion": reply.panel.model,
        "responseId": reply.panel.id,
    }
    if not reply.panel.field:
        return Rendered(body)
    return Rendered(body, {"X-Bench-Panel": reply.panel.id, "X-Bench-Seats": _seats(reply)})


def render_count(tokens: int) -> dict[str, Any]:
    return {"totalTokens": tokens}


def render_models(collections: Sequence[ListedCollection]) -> dict[str, Any]:
    return {"models": [render_model(collection) for collection in collections]}


def render_model(collection: ListedCollection) -> dict[str, Any]:
    """A limit that nobody knows is left out: readers take null for a number."""
    limits = {"inputTokenLimit": collection.context_window, "outputTokenLimit": collection.output_limit}
    return {
        "name": f"models/{collection.id}",
        "version": "001",
        "displayName": collection.id,
        "description": collection.description,
        **{name: limit for name, limit in limits.items() if limit is not None},
        "supportedGenerationMethods": list(_VERBS),
    }


def render_error(status: int, message: str, **extra: Any) -> Any:
    """`error` first and its code a number: readers of streams look for just that. A stream in a list has its errors in one."""
    body: dict[str, Any] = {"error": {"code": status, "message": message, "status": _status(status)}}
    if extra.get("bench"):
        body["bench"] = extra["bench"]
    route: Route | None = extra.get("route")
    return [body] if route and route.streams == "always" and route.variant != "sse" else body


def stream_encoder(chat: ChatRequest, route: Route) -> StreamEncoder:
    return _Chunks(chat, sse=route.variant == "sse")


class _Chunks:
    """Chunks as `data:` events, or as one JSON list written as it goes.

    Every chunk has a text, if an empty one: comments break the Python reader, and a chat forgets a turn of which one chunk
    had no part.
    """

    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, chat: ChatRequest, *, sse: bool) -> None:
        self.content_type = "text/event-stream" if sse else "application/json"
        self._sse = sse
        self._begun = False
        self._common = {"modelVersion": chat.model, "responseId": uuid.uuid4().hex}

    def start(self) -> tuple[bytes, ...]:
        return self.text("")

    def text(self, piece: str) -> tuple[bytes, ...]:
        return self._event({"candidates": [_candidate(piece)], **self._common})

    def keepalive(self) -> tuple[bytes, ...]:
        return self.text("")

    def finish(self, reply: PanelReply) -> tuple[bytes, ...]:
        last = {"candidates": [_candidate("", finishReason="STOP")], "usageMetadata": _usage(reply), **self._common}
        return self._event(last, last=True)

    def error(self, status: int, message: str, **extra: Any) -> tuple[bytes, ...]:
        return self._event(render_error(status, message), last=True)

    def _event(self, chunk: Any, *, last: bool = False) -> tuple[bytes, ...]:
        data = json.dumps(chunk).encode("ascii")
        if self._sse:
            return (b"data: " + data + b"\n\n",)
        opening = b"," if self._begun else b"["
        self._begun = True
        return (opening + data + (b"\n]" if last else b"\n"),)


def _named(body: Fields, thoughts: Iterable[str]) -> tuple[str, ...]:
    settings = ignored_names(body.object("generationConfig"), ())
    return tuple(dict.fromkeys((*ignored_names(body, _UNDERSTOOD), *settings, *thoughts)))


def _candidate(text: str, **ending: str) -> dict[str, Any]:
    return {"content": {"parts": [{"text": text}], "role": "model"}, **ending, "index": 0}


def _usage(reply: PanelReply) -> dict[str, int]:
    return {
        "promptTokenCount": reply.panel.prompt_tokens,
        "candidatesTokenCount": reply.completion_tokens,
        "totalTokenCount": reply.panel.prompt_tokens + reply.completion_tokens,
    }


def _seats(reply: PanelReply) -> str:
    """Who sat, as JSON in ASCII; of a panel too long for a header the first seats, since JSON cut short is none."""
    told = [{"call": seat.call, "seat": seat.seat, "alias": seat.alias, "status": seat.status} for seat in reply.called]
    while len(written := json.dumps(told, separators=(",", ":"))) > _LONGEST_SEATS:
        told.pop()
    return written


def _status(status: int) -> str:
    try:
        return _STATUSES.get(status) or HTTPStatus(status).name
    except ValueError:
        return "UNKNOWN"
