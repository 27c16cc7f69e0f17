"""OpenAI chat completions, as a caller of providers that speak it: OpenRouter, Groq, vLLM, llama.cpp and many more.

Reads what they really send, which is more than the format says. The mirror of wire/openai_chat.py.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gateway.chat import ImagePart, Message, Part
from gateway.upstream.answer import gathered
from gateway.upstream.classify import error_in, read_error
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.upstream.payload import first_count, mapping_of, read_json, text_of, unwrapped
from gateway.upstream.sse import BEGINS, events

PATH = "/chat/completions"
STREAM_BEGINS = BEGINS
DONE = b"[DONE]"
# Names under which a chunk comes; another event's data may be anything.
CHUNKS = ("", "message", "chunk")
PLAIN = frozenset(("role", "content"))


def build_request(model: str, messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a streamed call. An option of null leaves a field out; none may change what is asked of whom."""
    body = {
        "stream_options": {"include_usage": True},
        **options,
        "model": model,
        "messages": [{"role": message.role, "content": _content(message.parts)} for message in messages],
        "stream": True,
    }
    return {name: value for name, value in body.items() if value is not None}


def headers(key: str) -> dict[str, str]:
    """How this protocol sends a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def parse_reply(payload: Any) -> Completion:
    """Read a whole reply. Raises UpstreamError."""
    reply = unwrapped(payload)
    choice = _choice(reply)
    failure = _failure(reply, choice)
    if failure or not isinstance(reply.get("choices"), list):
        raise failure or error_in(reply)
    return gathered([_delta(reply, choice)])


def parse_stream(lines: Iterable[bytes]) -> Iterator[Delta]:
    """Read a stream's lines, without their ends. Raises UpstreamError, also when the stream ends early."""
    finished = False
    for name, data in events(lines):
        if data.startswith(DONE):
            return
        chunk = _chunk(name, data)
        if not chunk:
            continue
        plain = None if name == "error" else _plain_delta(chunk)
        if plain:
            yield plain
            continue
        choice = _choice(chunk)
        failure = error_in(chunk) if name == "error" else _failure(chunk, choice)
        if failure:
            raise failure
        delta = _delta(chunk, choice)
        finished = finished or bool(delta.finish_reason)
        yield delta
    if not finished:
        raise UpstreamError("the stream ended early", kind="bad_reply")


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Read a refusal or failure: its kind, its words, its wait."""
    return read_error(status, headers, body)


def _content(parts: Sequence[Part]) -> Any:
    if len(parts) == 1 and not isinstance(parts[0], ImagePart):
        return parts[0].text
    return [
        {"type": "image_url", "image_url": {"url": part.url}}
        if isinstance(part, ImagePart)
        else {"type": "text", "text": part.text}
        for part in parts
    ]


def _chunk(name: str, data: bytes) -> Mapping[str, Any]:
    """An event's JSON, empty for an event that is none of ours. Raises UpstreamError for a chunk that cannot be read."""
    try:
        payload = read_json(data)
    except ValueError:
        payload = None
    if type(payload) is dict:
        return payload
    if isinstance(payload, list):
        return unwrapped(payload)
    if name == "error":
        raise read_error(200, {}, data)
    if name in CHUNKS and data.strip():
        raise UpstreamError("a malformed chunk came in the stream", kind="bad_reply")
    return {}


def _choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = reply.get("choices")
    return mapping_of(choices[0]) if isinstance(choices, list) and choices else {}


def _failure(reply: Mapping[str, Any], choice: Mapping[str, Any]) -> UpstreamError | None:
    """The error that a reply or chunk of status 200 is, with or without an answer beside it."""
    if reply.get("error") or reply.get("object") == "error":
        return error_in(reply)
    if isinstance(choice.get("error"), dict):
        return error_in(choice)
    return error_in(reply) if choice.get("finish_reason") == "error" else None


def _plain_delta(chunk: Mapping[str, Any]) -> Delta | None:
    """The text of a chunk that has nothing else, as nearly every one of a stream; None: it is to be looked at."""
    choices = chunk.get("choices")
    if not choices or type(choices) is not list or chunk.get("error") or chunk.get("object") == "error" or chunk.get("usage"):
        return None
    choice = choices[0]
    if type(choice) is not dict or choice.get("finish_reason") or choice.get("error"):
        return None
    said = choice.get("delta")
    if type(said) is not dict or not said.keys() <= PLAIN or type(said.get("content")) is not str:
        return None
    return Delta(text=said["content"], model=text_of(chunk.get("model")))


def _delta(reply: Mapping[str, Any], choice: Mapping[str, Any]) -> Delta:
    said = mapping_of(choice.get("delta") or choice.get("message"))
    content = said.get("content")
    model = text_of(reply.get("model"))
    finish_reason, usage = choice.get("finish_reason"), reply.get("usage")
    text, thought = _texts(content)
    return Delta(
        text=text or text_of(choice.get("text")),
        reasoning=_reasoning(said) or thought,
        refusal=text_of(said.get("refusal")),
        calls_tool=bool(said.get("tool_calls") or said.get("function_call")),
        finish_reason=text_of(finish_reason),
        model=model,
        input_tokens=first_count(mapping_of(usage), "prompt_tokens", "input_tokens"),
        output_tokens=first_count(mapping_of(usage), "completion_tokens", "output_tokens"),
    )


def _texts(content: Any) -> tuple[str, str]:
    """A content's text and its thinking: a string, or parts of either (Mistral's Magistral, some relays)."""
    if not isinstance(content, list):
        return text_of(content), ""
    parts = [mapping_of(part) for part in content]
    thoughts = [part["thinking"] for part in parts if part.get("thinking")]
    return (
        "".join(text_of(part.get("text")) for part in parts),
        "".join(thought if isinstance(thought, str) else _texts(thought)[0] for thought in thoughts),
    )


def _reasoning(said: Mapping[str, Any]) -> str:
    """Reasoning by whichever name; relays send the same under two."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(said.get(name), str) and said[name]:
            return str(said[name])
    details = said.get("reasoning_details")
    parts = [mapping_of(detail) for detail in details] if isinstance(details, list) else []
    return "".join(text_of(part.get("text")) or text_of(part.get("summary")) for part in parts)
