"""What callers speak: one module a format, found by name. A new format is one module and one line here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import APIException

from gateway.errors import NobodyAnswered, Refusal
from gateway.wire import anthropic_messages, gemini, ollama, openai_chat, openai_completions, openai_responses
from gateway.wire.contract import Refuses, Route, WireFormat

_MODULES: tuple[WireFormat, ...] = (openai_chat, openai_responses, openai_completions, anthropic_messages, ollama, gemini)
FORMATS: Mapping[str, WireFormat] = {module.NAME: module for module in _MODULES}
_BY_PREFIX = sorted(
    ((prefix, module) for module in FORMATS.values() for prefix in module.PREFIXES), key=lambda pair: len(pair[0]), reverse=True
)
# Verbs after a name, under a prefix of another format's: v1/models/bench/core:generateContent.
_BY_VERB = {
    verb: module
    for module in FORMATS.values()
    for route in module.ROUTES
    if (verb := route.path.rpartition(">")[2]).startswith(":")
}


def format_of_path(path: str) -> WireFormat:
    """The format in whose words a path is refused that no route has; the bench's own paths speak OpenAI's."""
    return _BY_VERB.get(path[path.rfind(":") :]) or next(module for prefix, module in _BY_PREFIX if path.startswith(prefix))


def listing_format(headers: Mapping[str, str], by_path: WireFormat) -> WireFormat:
    """Whose shape a list of models has, where several formats share its path: each SDK sends a mark of its own."""
    if by_path.NAME != openai_chat.NAME:
        return by_path
    if "x-goog-api-key" in headers or "x-goog-api-client" in headers:
        return gemini
    if "anthropic-version" in headers:
        return anthropic_messages
    return by_path


def takes_key_in_query(wire_format: WireFormat) -> bool:
    """Whether a format's clients send their key as ?key=, which Google's own documents do and nobody else's should."""
    return wire_format.NAME == gemini.NAME


@dataclass(frozen=True, slots=True)
class RenderedRefusal:
    status: int
    headers: Mapping[str, str]
    body: Any


def render_refusal(wire_format: Refuses, error: APIException, route: Route | None = None) -> RenderedRefusal:
    """Give a refusal its status, headers and the format's body, as the route has it."""
    wait = getattr(error, "wait", None)
    headers = dict(getattr(error, "headers", {}))
    if wait is not None:
        headers["Retry-After"] = str(max(1, round(wait)))
    if isinstance(error, NobodyAnswered):
        # The seats were asked: an SDK's retry would run the whole panel again.
        headers["x-should-retry"] = "false"
    extra = {"code": error.code, "param": error.param, "bench": error.bench} if isinstance(error, Refusal) else {}
    body = wire_format.render_error(error.status_code, _words(error), **extra, route=route)
    own_headers = getattr(wire_format, "error_headers", None)
    return RenderedRefusal(error.status_code, headers | (own_headers(body) if own_headers else {}), body)


def _words(error: APIException) -> str:
    """DRF's own errors hold text, a list of texts, or texts by field."""
    detail = error.detail
    if isinstance(detail, dict):
        return " ".join(f"{name}: {_join(texts)}" for name, texts in detail.items())
    return _join(detail)


def _join(texts: Any) -> str:
    return " ".join(str(text) for text in texts) if isinstance(texts, list) else str(texts)
