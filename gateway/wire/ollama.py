"""Ollama's chat and generate, as of its API 0.12. Shapes: its server's source, and its Python and JS libraries."""

import hashlib
import json
from binascii import a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from gateway.chat import ChatRequest, ImagePart, Message, Part, Role, TextPart
from gateway.errors import BadRequest
from gateway.reply import PanelReply
from gateway.wire.contract import ListedCollection, NoPanel, Rendered, Route, StreamEncoder
from gateway.wire.reading import TOOLS_REFUSED, Fields, ignored_names, read_bench

NAME = "ollama"
PREFIXES: tuple[str, ...] = ("api/",)
ROUTES: tuple[Route, ...] = (
    Route("POST", "api/chat", "generate", streams="unless_refused", variant="chat"),
    Route("POST", "api/generate", "generate", streams="unless_refused", variant="generate"),
    Route("GET", "api/tags", "list_models"),
    Route("POST", "api/show", "show_model"),
    Route("GET", "api/version", "fixed", body={"version": "0.12.0"}),
    # What is loaded now: a collection is never held in memory.
    Route("GET", "api/ps", "fixed", body={"models": []}),
)

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_UNDERSTOOD = frozenset({"model", "stream", "bench", "with", "tools", "context", "options"})
_UNDERSTOOD_BY = {"chat": _UNDERSTOOD | {"messages"}, "generate": _UNDERSTOOD | {"prompt", "system", "images"}}
_DETAILS = {"format": "bench", "family": "bench", "families": ["bench"], "parameter_size": "", "quantization_level": ""}
_IMAGE_BEGINS = ((b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif"))


def parse_request(payload: Any, route: Route, **path: str) -> ChatRequest | NoPanel:
    body = Fields(payload)
    if body.items("tools"):
        raise BadRequest(TOOLS_REFUSED, param="tools")
    if body.items("context"):
        raise BadRequest(
            "context holds one model's tokens, which several models cannot share. "
            "Leave it out, and send the conversation so far as messages to /api/chat.",
            param="context",
        )
    stream = body.flag("stream", default=True)
    messages = tuple(_conversation(body) if route.variant == "chat" else _prompt(body))
    if not messages:
        return _load(body, route)
    return ChatRequest(
        format=NAME,
        model=body.text("model"),
        messages=messages,
        stream=stream,
        ignored=tuple(_ignored(body, route)),
        bench=read_bench(body),
    )


def render_reply(reply: PanelReply, route: Route) -> Rendered:
    return Rendered(_said(reply.panel.model, route, reply.content) | _ending(reply))


def render_count(tokens: int) -> dict[str, Any]:
    return {"prompt_eval_count": tokens}


def render_models(collections: Sequence[ListedCollection]) -> dict[str, Any]:
    return {"models": [_listed(collection) for collection in collections]}


def render_model(collection: ListedCollection) -> dict[str, Any]:
    """What /api/show tells. Clients look the window up under the architecture's name; tools, refused, are not offered."""
    window = {"bench.context_length": collection.context_window} if collection.context_window else {}
    return {
        "license": "",
        "modelfile": "",
        "parameters": "",
        "template": "{{ .Prompt }}",
        "details": _DETAILS,
        "model_info": {
            "general.architecture": "bench",
            "general.basename": collection.id,
            "general.description": collection.description,
            **window,
        },
        "capabilities": ["completion", *(["vision"] if "vision" in collection.capabilities else [])],
        "modified_at": _instant(collection.created),
        "bench": collection.as_bench(),
    }


def render_error(status: int, message: str, **extra: Any) -> dict[str, Any]:
    """The error is a string: the Python library fails on an object."""
    return {"error": message} | ({"bench": extra["bench"]} if extra.get("bench") else {})


def stream_encoder(chat: ChatRequest, route: Route) -> StreamEncoder:
    return _Lines(chat, route)


class _Lines:
    """JSON lines. Readers know no comment and no blank line, and take a line without text for the end of an answer: there is
    none at the start, and one only where a silence needs it."""

    content_type = "application/x-ndjson"
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, chat: ChatRequest, route: Route) -> None:
        self._model = chat.model
        self._route = route

    def start(self) -> tuple[bytes, ...]:
        return ()

    def text(self, piece: str) -> tuple[bytes, ...]:
        return (_line(_said(self._model, self._route, piece) | {"done": False}),)

    def keepalive(self) -> tuple[bytes, ...]:
        return self.text("")

    def finish(self, reply: PanelReply) -> tuple[bytes, ...]:
        return (_line(_said(self._model, self._route, "") | _ending(reply)),)

    def error(self, status: int, message: str, **extra: Any) -> tuple[bytes, ...]:
        return (_line(render_error(status, message, **extra)),)


def _conversation(body: Fields) -> Iterator[Message]:
    for fields in body.objects("messages"):
        role = fields.text("role").lower()
        if role == "tool" or fields.items("tool_calls"):
            raise BadRequest(TOOLS_REFUSED, param=fields.path("role" if role == "tool" else "tool_calls"))
        if role not in _ROLES:
            raise BadRequest(
                f'{fields.path("role")} must be one of {", ".join(_ROLES)}, not "{role[:40]}".', param=fields.path("role")
            )
        yield Message(_ROLES[role], _parts(fields, "content"))


def _prompt(body: Fields) -> Iterator[Message]:
    """A prompt with its system text. System text alone asks nothing."""
    system, parts = body.text("system"), _parts(body, "prompt")
    if parts == (TextPart(""),):
        return
    if system:
        yield Message("system", (TextPart(system),))
    yield Message("user", parts)


def _parts(fields: Fields, name: str) -> tuple[Part, ...]:
    text = fields.text(name)
    images = tuple(_image(data, f"{fields.path('images')}[{index}]") for index, data in enumerate(fields.texts("images")))
    return (TextPart(text), *images) if text or not images else images


def _image(data: str, at: str) -> ImagePart:
    """An image by its bytes: the format has no place for its type. A data: prefix is tolerated, and not believed."""
    encoded = "".join((data.partition(",")[2] if data[:5].lower() == "data:" else data).split())
    try:
        kind = _kind_of_image(a2b_base64(encoded, strict_mode=True))
    except ValueError:
        kind = ""
    if not kind:
        raise BadRequest(
            f"{at} is no image that a panel can pass on: send a PNG, JPEG, GIF or WEBP in base64. "
            "For an image's URL use /v1/chat/completions; for a PDF, audio or a file, send its text.",
            param=at,
        )
    return ImagePart(f"data:image/{kind};base64,{encoded}")


def _kind_of_image(content: bytes) -> str:
    # RIFF begins WAV files too.
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    return next((kind for begins, kind in _IMAGE_BEGINS if content.startswith(begins)), "")


def _ignored(body: Fields, route: Route) -> Iterator[str]:
    """Settings that say something; each of `options` by its own name."""
    yield from (name for name in ignored_names(body, _UNDERSTOOD_BY[route.variant]) if body.get(name) not in ("", [], {}))
    yield from (f"options.{name}" for name in ignored_names(body.object("options"), ()))
    if route.variant == "chat" and any(fields.get("thinking") for fields in body.objects("messages")):
        yield "messages.thinking"


def _load(body: Fields, route: Route) -> NoPanel:
    """Nothing is asked: the format's way to load a model, or to unload it when it is to be kept for no time."""
    model = body.text("model")
    reason = "unload" if _is_no_time(body.get("keep_alive")) else "load"
    return NoPanel(model, Rendered(_said(model, route, "") | {"done": True, "done_reason": reason}))


def _is_no_time(keep_alive: Any) -> bool:
    """0 as seconds or as a duration such as "0s"."""
    if isinstance(keep_alive, str):
        return "0" in keep_alive and not any(digit in keep_alive for digit in "123456789")
    return type(keep_alive) in (int, float) and keep_alive == 0


def _said(model: str, route: Route, text: str) -> dict[str, Any]:
    said: dict[str, Any] = (
        {"message": {"role": "assistant", "content": text}} if route.variant == "chat" else {"response": text}
    )
    return {"model": model, "created_at": _instant(), **said}


def _ending(reply: PanelReply) -> dict[str, Any]:
    """How a reply ends: counts by the size estimate, and the panel's time, in nanoseconds."""
    nanoseconds = max(1, int(reply.seconds * 1e9))
    return {
        "done": True,
        "done_reason": "stop",
        "total_duration": nanoseconds,
        "load_duration": 0,
        "prompt_eval_count": reply.panel.prompt_tokens,
        "prompt_eval_duration": 0,
        "eval_count": reply.completion_tokens,
        "eval_duration": nanoseconds,
        **reply.bench_field(),
    }


def _listed(collection: ListedCollection) -> dict[str, Any]:
    content = json.dumps([collection.id, *collection.members])
    return {
        "name": collection.id,
        "model": collection.id,
        "modified_at": _instant(collection.created),
        "size": 0,
        "digest": hashlib.sha256(content.encode()).hexdigest(),
        "details": _DETAILS,
        "bench": collection.as_bench(),
    }


def _instant(seconds: float | None = None) -> str:
    """A time as RFC 3339, now if none is given."""
    time = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return time.isoformat().replace("+00:00", "Z")


def _line(payload: Any) -> bytes:
    """One line, in ASCII: the Python library splits lines at characters that JSON allows in strings."""
    return json.dumps(payload).encode("ascii") + b"\n"
