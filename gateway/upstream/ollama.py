"""Ollama's own chat, as a caller of servers that speak it: Ollama, on this machine or hosted, and what imitates it.

Reads what they really send, which is more than the format says. The mirror of wire/ollama.py.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gateway.chat import ImagePart, Message
from gateway.upstream.answer import gathered
from gateway.upstream.classify import error_in, read_error
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.upstream.payload import count_of, mapping_of, read_json, text_of

PATH = "/api/chat"
# A stream is lines of JSON; a whole reply is read as a stream of one.
STREAM_BEGINS: tuple[bytes, ...] = (b"{",)
# Options that stand beside the format's `options`, not in them; and those that none may be.
BESIDE = frozenset({"format", "keep_alive", "think", "truncate", "shift", "logprobs", "top_logprobs"})
# Left to itself, Ollama cuts a prompt that does not fit, or drops its beginning while it answers, and says nothing.
UNCUT = {"truncate": False, "shift": False}
OURS = frozenset({"model", "messages", "stream", "tools", "options"})
# Limits as other formats call them: a model that moved here keeps its own.
RENAMED = {"max_tokens": "num_predict", "max_completion_tokens": "num_predict"}
# Ollama's own name for reasoning, and those that imitations keep from other formats.
THOUGHTS = ("thinking", "reasoning_content", "reasoning")


def build_request(model: str, messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a streamed call. An option of null leaves a field out; none may change what is asked of whom.

    Raises UpstreamError for an image by URL, which the format cannot carry.
    """
    given = {name: value for name, value in options.items() if value is not None}
    inside = {RENAMED.get(name, name): value for name, value in given.items() if name not in BESIDE | OURS}
    inside |= {name: value for name, value in mapping_of(given.get("options")).items() if value is not None}
    return {
        **UNCUT,
        **{name: value for name, value in given.items() if name in BESIDE},
        **({"options": inside} if inside else {}),
        "model": model,
        "messages": [_message(message) for message in messages],
        "stream": True,
    }


def headers(key: str) -> dict[str, str]:
    """How this protocol sends a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def parse_reply(payload: Any) -> Completion:
    """Read a whole reply. Raises UpstreamError."""
    reply = mapping_of(payload)
    if _says_error(reply):
        raise error_in(payload)
    return gathered([_delta(reply)])


def parse_stream(lines: Iterable[bytes]) -> Iterator[Delta]:
    """Read a stream's lines, without their ends. Raises UpstreamError, also when the stream ends early."""
    finished = False
    for chunk in _chunks(lines):
        if _says_error(chunk):
            raise error_in(chunk)
        delta = _delta(chunk)
        finished = finished or bool(delta.finish_reason)
        yield delta
    if not finished:
        raise UpstreamError("the stream ended early", kind="bad_reply")


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Read a refusal or failure: its kind, its words, its wait."""
    return read_error(status, headers, body)


def _message(message: Message) -> dict[str, Any]:
    text = "\n".join(part.text for part in message.parts if not isinstance(part, ImagePart))
    images = [_base64_of(part) for part in message.parts if isinstance(part, ImagePart)]
    return {"role": message.role, "content": text, **({"images": images} if images else {})}


def _base64_of(image: ImagePart) -> str:
    if not image.is_inline:
        raise UpstreamError(
            "Ollama's API carries images as data, not by URL, and this request has one by URL: send the image itself",
            kind="refused",
        )
    _, data = image.inline()
    return data


def _chunks(lines: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    """Each line's JSON. Raises UpstreamError for a line that is none, unless all lines together are: a reply in print."""
    rest = iter(lines)
    first = True
    for line in rest:
        if not line.strip():
            continue
        try:
            payload = read_json(line)
        except ValueError:
            payload = _in_print(line, rest) if first else _cut_off(rest)
        first = False
        yield mapping_of(payload)


def _in_print(line: bytes, rest: Iterable[bytes]) -> Any:
    try:
        return read_json(b"\n".join([line, *rest]))
    except ValueError as error:
        raise UpstreamError("the answer is JSON that cannot be read, or that was cut off", kind="bad_reply") from error


def _cut_off(rest: Iterator[bytes]) -> Any:
    if next(rest, None) is None:
        raise UpstreamError("the stream ended early", kind="bad_reply")
    raise UpstreamError("a malformed line came in the stream", kind="bad_reply")


def _says_error(chunk: Mapping[str, Any]) -> bool:
    said = isinstance(chunk.get("message"), dict) or chunk.get("done") is True
    return bool(chunk.get("error")) or not said


def _delta(chunk: Mapping[str, Any]) -> Delta:
    said = mapping_of(chunk.get("message"))
    return Delta(
        text=text_of(said.get("content")),
        reasoning=next(filter(None, (text_of(said.get(name)) for name in THOUGHTS)), ""),
        calls_tool=bool(said.get("tool_calls")),
        # Old servers end without saying why.
        finish_reason=(text_of(chunk.get("done_reason")) or "stop") if chunk.get("done") is True else "",
        model=text_of(chunk.get("model")),
        input_tokens=count_of(chunk.get("prompt_eval_count")),
        output_tokens=count_of(chunk.get("eval_count")),
    )
