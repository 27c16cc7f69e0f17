"""Gemini's streamGenerateContent, as a caller of Google's own API and of what imitates it.

Reads what they really send, which is more than the format says. The mirror of wire/gemini.py.
"""

import mimetypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gateway.chat import ImagePart, Message, Part
from gateway.upstream.answer import gathered
from gateway.upstream.classify import error_in, read_error
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.upstream.payload import count_of, mapping_of, read_json, text_of, unwrapped
from gateway.upstream.sse import BEGINS, events

PATH = "/models/{model}:streamGenerateContent?alt=sse"
STREAM_BEGINS = BEGINS
ROLES = {"user": "user", "assistant": "model"}
# Options that stand beside the format's `generationConfig`, not in it; and those that none may be.
BESIDE = frozenset({"safetySettings", "safety_settings", "tools", "toolConfig", "tool_config", "labels", "serviceTier"})
OURS = frozenset({"model", "contents", "systemInstruction", "system_instruction", "cachedContent", "generationConfig"})
# Limits as other formats call them: a model that moved here keeps its own.
RENAMED = {"max_tokens": "maxOutputTokens", "max_completion_tokens": "maxOutputTokens", "stop": "stopSequences"}
TOOL_PARTS = ("functionCall", "executableCode", "codeExecutionResult", "toolCall")
DONE = b"[DONE]"
LONGEST_PRINT = 64_000


def build_request(model: str, messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a streamed call. An option of null leaves a field out; none may change what is asked of whom.

    System text goes into a field of its own, all of it to the front. The model is in the URL.
    """
    given = {name: value for name, value in options.items() if value is not None}
    inside = {RENAMED.get(name, name): value for name, value in given.items() if name not in BESIDE | OURS}
    inside |= {name: value for name, value in mapping_of(given.get("generationConfig")).items() if value is not None}
    system = [part for message in messages if message.role == "system" for part in _parts(message.parts)]
    turns = [{"role": ROLES[message.role], "parts": _parts(message.parts)} for message in messages if message.role != "system"]
    if not turns:
        # The format cannot ask with system text alone.
        turns, system = [{"role": "user", "parts": system}], []
    return {
        **{name: value for name, value in given.items() if name in BESIDE},
        **({"generationConfig": inside} if inside else {}),
        **({"systemInstruction": {"parts": system}} if system else {}),
        "contents": turns,
    }


def headers(key: str) -> dict[str, str]:
    """How this protocol sends a key."""
    return {"x-goog-api-key": key} if key else {}


def parse_reply(payload: Any) -> Completion:
    """Read a whole reply, or a stream that came as one list. Raises UpstreamError."""
    chunks = [mapping_of(chunk) for chunk in payload] if isinstance(payload, list) else [mapping_of(payload)]
    for chunk in chunks:
        if chunk.get("error"):
            raise error_in(chunk)
    deltas = [_delta(chunk) for chunk in chunks]
    if isinstance(payload, list) and chunks and not any(delta.finish_reason for delta in deltas):
        raise UpstreamError("the stream ended early", kind="bad_reply")
    if not any("candidates" in chunk or delta.finish_reason for chunk, delta in zip(chunks, deltas, strict=True)):
        raise error_in(payload)
    return gathered(deltas)


def parse_stream(lines: Iterable[bytes]) -> Iterator[Delta]:
    """Read a stream's lines, without their ends. Raises UpstreamError, also when the stream ends early."""
    finished = False
    for name, data in events(_without_print(lines)):
        if data.startswith(DONE) or not data.strip():
            continue
        chunk = _chunk(data)
        if name == "error" or chunk.get("error"):
            raise error_in(chunk)
        delta = _delta(chunk)
        finished = finished or bool(delta.finish_reason)
        yield delta
    if not finished:
        raise UpstreamError("the stream ended early", kind="bad_reply")


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Read a refusal or failure: its kind, its words, its wait."""
    return read_error(status, headers, body)


def _parts(parts: Sequence[Part]) -> list[dict[str, Any]]:
    return [_image(part) if isinstance(part, ImagePart) else {"text": part.text} for part in parts]


def _image(image: ImagePart) -> dict[str, Any]:
    """An image as data, or by its URL: Google fetches those itself, and guesses a type that the URL does not tell."""
    if image.is_inline:
        media_type, data = image.inline()
        return {"inlineData": {"mimeType": media_type, "data": data}}
    name = image.url.partition("?")[0].partition("#")[0].rpartition("/")[2]
    kind, _ = mimetypes.guess_type(name, strict=False)
    known = {"mimeType": kind} if kind and kind.startswith("image/") else {}
    return {"fileData": {"fileUri": image.url, **known}}


def _without_print(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines, with JSON that stands outside any event made one: Google prints an error into a stream over many lines."""
    printed = b""
    for line in lines:
        if not printed and line[:1] not in (b"{", b"["):
            yield line
            continue
        printed += line + b" "
        if _is_json(printed):
            yield from (b"data: " + printed, b"")
            printed = b""
        elif len(printed) > LONGEST_PRINT:
            raise UpstreamError("a malformed chunk came in the stream", kind="bad_reply")


def _is_json(printed: bytes) -> bool:
    if not printed.rstrip().endswith((b"}", b"]")):
        return False
    try:
        read_json(printed)
    except ValueError:
        return False
    return True


def _chunk(data: bytes) -> Mapping[str, Any]:
    """An event's JSON, also out of a list of one, as errors come. Raises UpstreamError."""
    try:
        payload = read_json(data)
    except ValueError as error:
        raise UpstreamError("a malformed chunk came in the stream", kind="bad_reply") from error
    return unwrapped(payload)


def _delta(chunk: Mapping[str, Any]) -> Delta:
    candidates = chunk.get("candidates")
    candidate = mapping_of(candidates[0]) if isinstance(candidates, list) and candidates else {}
    said = mapping_of(candidate.get("content")).get("parts")
    parts = [mapping_of(part) for part in said] if isinstance(said, list) else []
    feedback = mapping_of(chunk.get("promptFeedback"))
    blocked = text_of(feedback.get("blockReason"))
    usage = mapping_of(chunk.get("usageMetadata"))
    written, thought = count_of(usage.get("candidatesTokenCount")), count_of(usage.get("thoughtsTokenCount"))
    return Delta(
        text="".join(text_of(part.get("text")) for part in parts if not part.get("thought")),
        reasoning="".join(text_of(part.get("text")) for part in parts if part.get("thought")),
        refusal=f"the prompt was blocked ({blocked})" if blocked else "",
        calls_tool=any(name in part for part in parts for name in TOOL_PARTS),
        finish_reason=text_of(candidate.get("finishReason")) or blocked,
        model=text_of(chunk.get("modelVersion")),
        input_tokens=count_of(usage.get("promptTokenCount")),
        # Thoughts are paid for, and counted apart.
        output_tokens=None if written is None and thought is None else count_of((written or 0) + (thought or 0)),
    )
