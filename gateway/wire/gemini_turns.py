"""What is said in a Gemini conversation: turns of text and images, in either spelling of every name.

Refuses what no panel can be shown; settings, replies and routes are gemini.py.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from gateway.chat import ImagePart, Message, Part, Role, TextPart
from gateway.errors import BadRequest
from gateway.wire.reading import TOOLS_REFUSED, Fields, image

_ROLES: dict[str, Role] = {"": "user", "user": "user", "model": "assistant"}
_TOOL_PARTS = ("functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse")
_THOUGHTS = ("thought", "thoughtSignature")
# Uploads have https URLs too, and so have videos that Google's own models watch.
_STORES = (".generativelanguage.googleapis.com", ".youtube.com", ".youtu.be")
_STANDARD_BASE64 = str.maketrans("-_", "+/")
_SEND = (
    "Send an image as inlineData (mimeType image/png, …) or as fileData with its http(s):// URL; of anything else, its text."
)


class CamelFields(Fields):
    """A JSON object by camelCase names, whichever spelling was sent: google-genai mixes both in one part."""

    def __init__(self, value: Any, at: str = "") -> None:
        if isinstance(value, dict):
            value = {_camel(name): inner for name, inner in value.items() if inner is not None}
        super().__init__(value, at)


def read_turns(body: Fields, ignored: list[str]) -> Iterator[Message]:
    """The conversation. A chat that streamed sends every chunk back as a turn: turns of the model in a row are one."""
    read = [_read_turn(turn, ignored) for turn in _listed(body, "contents")]
    for role, turns in groupby(read, key=lambda turn: turn[0]):
        if role == "user":
            yield from (Message(role, parts) for _, parts in turns)
        elif parts := _run_on([parts for _, parts in turns]):
            yield Message(role, parts)


def read_system(body: Fields, ignored: list[str]) -> Iterable[Message]:
    """What stands before the conversation, if anything does; who is said to say it does not matter."""
    if body.get("systemInstruction") is None:
        return ()
    return (Message("system", _spoken(body.object("systemInstruction"), ignored)),)


def _run_on(turns: Sequence[tuple[Part, ...]]) -> tuple[Part, ...]:
    if len(turns) == 1:
        return turns[0]
    parts: list[Part] = []
    for is_text, run in groupby((part for turn in turns for part in turn), key=lambda part: isinstance(part, TextPart)):
        together = list(run)
        parts += [TextPart("".join(map(str, together)))] if is_text else together
    return tuple(parts)


def _read_turn(turn: Fields, ignored: list[str]) -> tuple[Role, tuple[Part, ...]]:
    role = _role(turn)
    # A model's may come to nothing: its thoughts are not passed on.
    return role, _parts(turn, ignored) if role == "assistant" else _spoken(turn, ignored)


def _role(turn: Fields) -> Role:
    role = turn.text("role")
    if role == "function":
        raise BadRequest(TOOLS_REFUSED, param=turn.path("role"))
    if role not in _ROLES:
        where = turn.path("role")
        raise BadRequest(
            f'{where} must be user or model, not "{role[:40]}"; what is for the system goes into systemInstruction.',
            param=where,
        )
    return _ROLES[role]


def _parts(turn: Fields, ignored: list[str]) -> tuple[Part, ...]:
    return tuple(part for fields in _listed(turn, "parts") if (part := _part(fields, ignored)))


def _spoken(turn: Fields, ignored: list[str]) -> tuple[Part, ...]:
    """What is said, and is not nothing."""
    parts = _parts(turn, ignored)
    if not parts:
        raise BadRequest(
            f'{turn.path("parts")} must hold at least one part, such as {{"text": "…"}}.', param=turn.path("parts")
        )
    return parts


def _listed(fields: Fields, name: str) -> Iterable[Fields]:
    """A list's objects. One object alone is a list of one, as Google's own examples send it."""
    return [fields.object(name)] if isinstance(fields.get(name), dict) else list(fields.objects(name))


def _part(fields: Fields, ignored: list[str]) -> Part | None:
    """Read a part; None for a model's own thoughts, which are added to `ignored`. Raises BadRequest for what is neither."""
    for name in _TOOL_PARTS:
        if fields.get(name) is not None:
            raise BadRequest(TOOLS_REFUSED, param=fields.path(name))
    ignored += [name for name in _THOUGHTS if fields.get(name)]
    if fields.flag("thought"):
        return None
    if fields.get("text") is not None:
        return TextPart(fields.text("text"))
    if fields.get("inlineData") is not None:
        return _inline(fields.object("inlineData"))
    if fields.get("fileData") is not None:
        return _linked(fields.object("fileData"))
    if fields.get("thoughtSignature") is not None:
        return None
    names = ", ".join(name[:40] for name in fields.names()) or "nothing"
    raise BadRequest(
        f"A part must hold text, inlineData or fileData; this one holds {names}. {_SEND}", param=fields.path("text")
    )


def _inline(fields: Fields) -> ImagePart:
    kind = _image_type(fields)
    data = fields.text("data")
    if not kind or not data:
        where = fields.path("data" if kind else "mimeType")
        raise BadRequest(f"{where} must be {'base64' if kind else 'the type of an image'}. {_SEND}", param=where)
    # Google's own SDK encodes for URLs, which no other provider reads; shells' base64 breaks lines.
    standard = "".join(data.split()).translate(_STANDARD_BASE64)
    return image(f"data:{kind};base64,{standard}{'=' * (-len(standard) % 4)}", fields.path("data"))


def _linked(fields: Fields) -> ImagePart:
    _image_type(fields)
    where, uri = fields.path("fileUri"), fields.text("fileUri")
    if _is_stored(uri):
        raise BadRequest(f"{where} names an uploaded file, a bucket or a video, which no seat can read. {_SEND}", param=where)
    return image(uri, where)


def _image_type(fields: Fields) -> str:
    kind = fields.text("mimeType").lower()
    if kind and not kind.startswith("image/"):
        where = fields.path("mimeType")
        raise BadRequest(f"{where}: {kind[:40]} cannot go to a panel. {_SEND}", param=where)
    return kind


def _is_stored(uri: str) -> bool:
    if uri.startswith(("files/", "gs://")):
        return True
    try:
        return f".{urlsplit(uri).hostname}".endswith(_STORES)
    except ValueError:
        return False


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name) if "_" in name else name
