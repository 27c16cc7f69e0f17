"""Anthropic Messages, as a caller of providers that speak it: Anthropic, MiniMax, Z.ai, llama.cpp and relays.

Reads what they really send, which is more than the format says. The mirror of wire/anthropic_messages.py.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from gateway.chat import ImagePart, Message, Part
from gateway.upstream.answer import gathered
from gateway.upstream.classify import error_in, read_error
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.upstream.payload import count_of, mapping_of, read_json, text_of
from gateway.upstream.sse import BEGINS, events

PATH = "/messages"
STREAM_BEGINS: tuple[bytes, ...] = BEGINS
VERSION = "2023-06-01"
# The format demands a limit. Every model in service takes this one, and few answers are longer; a model's options raise it.
DEFAULT_MAX_TOKENS = 8192
# What OpenAI calls the limit: a model that moved here keeps its own.
RENAMED = {"max_completion_tokens": "max_tokens"}
INPUT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
TOOL_BLOCKS = ("tool_use", "server_tool_use", "mcp_tool_use")
OUR_EVENTS = ("message_", "content_block_")


def build_request(model: str, messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a streamed call. An option of null leaves a field out; none may change what is asked of whom.

    System text goes into a field of its own, all of it to the front; turns of one role that follow each other become one.
    """
    system = [str(part) for message in messages if message.role == "system" for part in _said(message) if _is_text(part)]
    turns = [
        {"role": role, "content": _content([part for _, parts in group for part in parts])}
        for role, group in groupby(_turns(messages), key=lambda turn: turn[0])
    ]
    if not turns:
        # The format cannot ask with system text alone.
        turns, system = [{"role": "user", "content": "\n\n".join(system)}], []
    body = {
        "max_tokens": DEFAULT_MAX_TOKENS,
        **{RENAMED.get(name, name): value for name, value in options.items()},
        "model": model,
        "system": "\n\n".join(system) or None,
        "messages": turns,
        "stream": True,
    }
    return {name: value for name, value in body.items() if value is not None}


def headers(key: str) -> dict[str, str]:
    """How this protocol sends a key."""
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


def parse_reply(payload: Any) -> Completion:
    """Read a whole reply. Raises UpstreamError."""
    reply = mapping_of(payload)
    content = reply.get("content")
    if reply.get("error") or not isinstance(content, str | list):
        raise error_in(payload)
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return gathered([_started(reply), *(_block(mapping_of(block)) for block in blocks), _ended(reply, reply)])


def parse_stream(lines: Iterable[bytes]) -> Iterator[Delta]:
    """Read a stream's lines, without their ends. Raises UpstreamError, also when the stream ends early."""
    finished = False
    for name, data in events(lines):
        event = _event(name, data)
        if event.get("type") == "message_stop":
            return
        delta = _delta(event)
        if delta:
            finished = finished or bool(delta.finish_reason)
            yield delta
    if not finished:
        raise UpstreamError("the stream ended early", kind="bad_reply")


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Read a refusal or failure: its kind, its words, its wait."""
    return read_error(status, headers, body)


def _is_text(part: Part) -> bool:
    return not isinstance(part, ImagePart)


def _said(message: Message) -> list[Part]:
    """A message's parts, without blank text: the format refuses it."""
    return [part for part in message.parts if isinstance(part, ImagePart) or part.text.strip()]


def _turns(messages: Sequence[Message]) -> Iterator[tuple[str, list[Part]]]:
    """The conversation without its system text. An image beside such text is a user's: system text holds none."""
    for message in messages:
        parts = [part for part in _said(message) if message.role != "system" or not _is_text(part)]
        if parts:
            yield "assistant" if message.role == "assistant" else "user", parts


def _content(parts: Sequence[Part]) -> Any:
    if len(parts) == 1 and not isinstance(parts[0], ImagePart):
        return parts[0].text
    return [
        {"type": "image", "source": _source(part)} if isinstance(part, ImagePart) else {"type": "text", "text": part.text}
        for part in parts
    ]


def _source(image: ImagePart) -> dict[str, str]:
    if not image.is_inline:
        return {"type": "url", "url": image.url}
    media_type, data = image.inline()
    # Everybody but Anthropic also takes the name that is none.
    return {"type": "base64", "media_type": media_type.lower().replace("image/jpg", "image/jpeg"), "data": data}


def _event(name: str, data: bytes) -> Mapping[str, Any]:
    """An event's JSON, empty for one that is none of ours. Raises UpstreamError for an error, or what cannot be read."""
    try:
        event = mapping_of(read_json(data))
    except ValueError:
        event = {}
        if name.startswith(OUR_EVENTS) or (not name and data.strip() not in (b"", b"[DONE]")):
            raise UpstreamError("a malformed event came in the stream", kind="bad_reply") from None
    if name == "error" or event.get("type") == "error" or event.get("error"):
        raise error_in(event) if event else read_error(200, {}, data)
    # Some relays leave out one of the two.
    return {"type": name, **event}


def _delta(event: Mapping[str, Any]) -> Delta | None:
    """What an event adds; None for pings and whatever else there may come to be."""
    match event.get("type"):
        case "content_block_delta":
            return _block(mapping_of(event.get("delta")))
        case "content_block_start":
            return _block(mapping_of(event.get("content_block")))
        case "message_start":
            return _started(mapping_of(event.get("message")))
        case "message_delta":
            return _ended(event, mapping_of(event.get("delta")))
    return None


def _block(block: Mapping[str, Any]) -> Delta:
    """A block's text or thinking, or a piece of one: pieces have the same fields. A tool's input is none of either."""
    return Delta(
        text=text_of(block.get("text")),
        reasoning=text_of(block.get("thinking")),
        calls_tool=block.get("type") in TOOL_BLOCKS,
    )


def _started(message: Mapping[str, Any]) -> Delta:
    return Delta(model=text_of(message.get("model")), input_tokens=_input_tokens(message))


def _ended(event: Mapping[str, Any], ending: Mapping[str, Any]) -> Delta:
    usage = mapping_of(event.get("usage"))
    return Delta(
        refusal=text_of(mapping_of(ending.get("stop_details")).get("explanation")),
        finish_reason=text_of(ending.get("stop_reason")),
        input_tokens=_input_tokens(event),
        output_tokens=count_of(usage.get("output_tokens")),
    )


def _input_tokens(event: Mapping[str, Any]) -> int | None:
    """The whole prompt: cached parts are counted apart. No count is a nought: relays say that while they do not know."""
    usage = mapping_of(event.get("usage"))
    return count_of(sum(count_of(usage.get(name)) or 0 for name in INPUT_COUNTS)) or None
