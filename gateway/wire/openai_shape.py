"""What OpenAI's formats share: the error object, server-sent events without names, the token counts of chat and completions."""

import json
from typing import Any

from gateway.reply import PanelReply

_TYPES = {429: "requests"}
_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def render_error(status: int, message: str, **extra: Any) -> dict[str, Any]:
    """All four fields, null where there is nothing to say: SDKs read them without asking."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    code = extra.get("code") or _CODES.get(status)
    body: dict[str, Any] = {"error": {"message": message, "type": kind, "param": extra.get("param"), "code": code}}
    if extra.get("bench"):
        body["bench"] = extra["bench"]
    return body


def data_event(payload: Any) -> bytes:
    """One event, in ASCII: some readers split lines at characters that JSON allows in strings."""
    return b"data: " + json.dumps(payload).encode("ascii") + b"\n\n"


def usage(reply: PanelReply) -> dict[str, int]:
    """The size estimate of prompt and reply, by chat completions' names."""
    return {
        "prompt_tokens": reply.panel.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": reply.panel.prompt_tokens + reply.completion_tokens,
    }
