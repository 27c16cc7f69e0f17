"""What OpenAI's formats share: roles and content, the error object, lists of models, a stream's events, chat's token counts."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gateway.chat import Part, Role, TextPart
from gateway.errors import BadRequest
from gateway.reply import PanelReply
from gateway.wire.contract import ListedCollection
from gateway.wire.reading import Fields, kind_of

KEEPALIVE = b": seats are thinking\n\n"
_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
# A panel that nobody answered is no `server_error`: clients that read this in a stream ask again, up to ten more panels.
_TYPES = {429: "requests", 502: "api_error"}
_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def role_of(message: Fields) -> Role:
    """The neutral role of a message. Raises BadRequest for one that no panel has."""
    role = message.text("role")
    if role not in _ROLES:
        where = message.path("role")
        raise BadRequest(f'{where} must be one of {", ".join(_ROLES)}, not "{role[:40]}".', param=where)
    return _ROLES[role]


def parts_of(message: Fields, read_part: Callable[[Fields], Part]) -> tuple[Part, ...]:
    """A message's content: a string, or a list of parts. Raises BadRequest for anything else, and for an empty list."""
    content = message.get("content")
    if isinstance(content, str):
        return (TextPart(content),)
    if not isinstance(content, list) or not content:
        where = message.path("content")
        what = "an empty list" if content == [] else kind_of(content)
        raise BadRequest(f"{where} must be a string or a list of parts, not {what}.", param=where)
    return tuple(map(read_part, message.objects("content")))


def render_error(status: int, message: str, **extra: Any) -> dict[str, Any]:
    """All four fields, null where there is nothing to say: SDKs read them without asking."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    code = extra.get("code") or _CODES.get(status)
    body: dict[str, Any] = {"error": {"message": message, "type": kind, "param": extra.get("param"), "code": code}}
    if extra.get("bench"):
        body["bench"] = extra["bench"]
    return body


def render_count(tokens: int) -> dict[str, Any]:
    return {"object": "token_count", "input_tokens": tokens}


def render_models(collections: Sequence[ListedCollection]) -> dict[str, Any]:
    return {"object": "list", "data": [render_model(collection) for collection in collections]}


def render_model(collection: ListedCollection) -> dict[str, Any]:
    return {
        "id": collection.id,
        "object": "model",
        "created": collection.created,
        "owned_by": "bench",
        **collection.as_bench(),
    }


def data_event(payload: Any) -> bytes:
    """One event, in ASCII: some readers split lines at characters that JSON allows in strings."""
    return b"data: " + json.dumps(payload).encode("ascii") + b"\n\n"


def panel_comment(panel_id: str) -> bytes:
    """Which panel a stream is of, before it has any text: a comment, which readers that do not look for it pass over."""
    return f": panel {panel_id}\n\n".encode("ascii")


def chunks_end(common: Mapping[str, Any], reply: PanelReply, *, include_usage: bool) -> tuple[bytes, ...]:
    """What follows the last choice of a stream of chunks; `common` is what every chunk has."""
    counts = [data_event({**common, "choices": [], "usage": usage(reply)})] if include_usage else []
    return (*counts, b"data: [DONE]\n\n")


def usage(reply: PanelReply) -> dict[str, int]:
    """The size estimate of prompt and reply, by chat completions' names."""
    return {
        "prompt_tokens": reply.panel.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": reply.panel.prompt_tokens + reply.completion_tokens,
    }
