"""OpenAI Responses, as a caller of providers that speak it: OpenAI, xAI, Groq, OpenRouter, vLLM, llama.cpp and relays.

Reads what they really send, which is less or more than the format says. The mirror of wire/openai_responses.py.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gateway.chat import ImagePart, Message, Part
from gateway.upstream.answer import gathered
from gateway.upstream.classify import error_in, read_error
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.upstream.payload import first_count, mapping_of, read_json, text_of, unwrapped
from gateway.upstream.sse import BEGINS, events

PATH = "/responses"
STREAM_BEGINS = BEGINS
DONE = b"[DONE]"
# Which field of an answer an event adds to.
ADDS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
}
ENDS = ("response.completed", "response.incomplete")
FAILED = ("failed", "cancelled")
TEXTS = ("output_text", "text")


def build_request(model: str, messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body of a streamed call. An option of null leaves a field out; none may change what is asked of whom.

    The provider is asked to store nothing: a prompt goes where the operator sent it, and stays nowhere.
    """
    body = {
        "store": False,
        **options,
        "model": model,
        # llama.cpp reads an assistant's turn only by its type.
        "input": [{"type": "message", "role": message.role, "content": _content(message)} for message in messages],
        "stream": True,
    }
    return {name: value for name, value in body.items() if value is not None}


def headers(key: str) -> dict[str, str]:
    """How this protocol sends a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def parse_reply(payload: Any) -> Completion:
    """Read a whole reply. Raises UpstreamError."""
    reply = unwrapped(payload)
    failure = _failure(reply)
    if failure or not isinstance(reply.get("output"), list):
        raise failure or error_in(reply)
    return gathered([_whole(reply)])


def parse_stream(lines: Iterable[bytes]) -> Iterator[Delta]:
    """Read a stream's lines, without their ends. Raises UpstreamError, also when the stream ends early."""
    came: dict[str, Any] = {}
    for name, data in events(lines):
        if data.startswith(DONE):
            return
        event = _event(name, data)
        kind, response = text_of(event.get("type")), mapping_of(event.get("response"))
        failure = _failure(response, failed=kind == "response.failed")
        if failure:
            raise failure
        if kind in ENDS:
            # Some servers send a whole answer here and no pieces, some send its reasoning only here.
            yield _whole(response)._replace(**came)
            return
        field = ADDS.get(kind)
        if field:
            came[field] = ""
            yield _piece(field, text_of(event.get("delta")))
        elif _parts_thoughts(kind, event):
            yield Delta(reasoning="\n\n")
        elif response:
            yield Delta(model=text_of(response.get("model")))
    raise UpstreamError("the stream ended early", kind="bad_reply")


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Read a refusal or failure: its kind, its words, its wait."""
    return read_error(status, headers, body)


def _content(message: Message) -> Any:
    parts = message.parts
    if len(parts) == 1 and not isinstance(parts[0], ImagePart):
        return parts[0].text
    return [_part(part, "output_text" if message.role == "assistant" else "input_text") for part in parts]


def _part(part: Part, text: str) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"type": "input_image", "detail": "auto", "image_url": part.url}
    return {"type": text, "text": part.text}


def _event(name: str, data: bytes) -> Mapping[str, Any]:
    """An event's JSON, empty for one that is none of ours. Raises UpstreamError for an error, or what cannot be read."""
    try:
        event = unwrapped(read_json(data))
    except ValueError:
        event = {}
        if name.startswith("response.") or (not name and data.strip()):
            raise UpstreamError("a malformed event came in the stream", kind="bad_reply") from None
    if name == "error" or event.get("type") == "error" or event.get("error"):
        raise error_in(event) if event else read_error(200, {}, data)
    # Some relays leave out one of the two.
    return {"type": name, **event}


def _failure(response: Mapping[str, Any], *, failed: bool = False) -> UpstreamError | None:
    """Why there is no answer in a response that failed, or None."""
    error = response.get("error")
    if error or failed or response.get("status") in FAILED:
        return error_in({"error": error})
    return None


def _piece(field: str, text: str) -> Delta:
    fields: dict[str, Any] = {field: text}
    return Delta(**fields)


def _parts_thoughts(kind: str, event: Mapping[str, Any]) -> bool:
    """Whether a further part of a summary of the model's reasoning begins here."""
    return kind == "response.reasoning_summary_part.added" and event.get("summary_index") not in (None, 0)


def _whole(response: Mapping[str, Any]) -> Delta:
    """A response that has ended."""
    output = response.get("output")
    items = [mapping_of(item) for item in output] if isinstance(output, list) else []
    said = [part for item in items if item.get("type") == "message" for part in _parts(item.get("content"))]
    usage = mapping_of(response.get("usage"))
    return Delta(
        text="".join(text_of(part.get("text")) for part in said if part.get("type") in TEXTS),
        reasoning="\n\n".join(filter(None, (_thought(item) for item in items if item.get("type") == "reasoning"))),
        refusal="".join(text_of(part.get("refusal")) for part in said),
        calls_tool=any(text_of(item.get("type")).endswith("_call") for item in items),
        finish_reason=_finish_reason(response),
        model=text_of(response.get("model")),
        input_tokens=first_count(usage, "input_tokens", "prompt_tokens"),
        output_tokens=first_count(usage, "output_tokens", "completion_tokens"),
    )


def _finish_reason(response: Mapping[str, Any]) -> str:
    why = text_of(mapping_of(response.get("incomplete_details")).get("reason"))
    return why or ("incomplete" if response.get("status") == "incomplete" else "stop")


def _thought(item: Mapping[str, Any]) -> str:
    """A reasoning item's own text, or where the provider keeps that to itself its summary."""
    own = "".join(text_of(part.get("text")) for part in _parts(item.get("content")))
    return own or "\n\n".join(text_of(part.get("text")) for part in _parts(item.get("summary")))


def _parts(content: Any) -> list[Mapping[str, Any]]:
    """A content's parts; some servers send a string."""
    if isinstance(content, str):
        return [{"type": "output_text", "text": content}]
    return [mapping_of(part) for part in content] if isinstance(content, list) else []
