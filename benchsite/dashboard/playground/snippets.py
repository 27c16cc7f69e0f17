"""What was asked on the page, as a program would ask it: curl, Python and JavaScript, each safe to copy and run.

Whatever the prompt holds, it is a string there: it ends no quotation, runs nothing and hides nothing. A key, and an image, are
placeholders.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

KEY = "YOUR_KEY"
IMAGE_FILE = "image.png"
# A longer text is a placeholder too: three copies of it would be most of the page.
LONGEST_TEXT = 20_000

# What a terminal would act on, what reorders a line and what breaks one; JSON escapes fewer.
_UNSEEN = re.compile(
    r"[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Stands for the image in JSON until the language's own way of reading a file takes its place. No text can hold it.
_IMAGE = "\x00image\x00"
_DATA_URL = "data:image/png;base64,"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to put into words. `base_url` is the server without a path; `model` a collection, with a suffix or without."""

    base_url: str
    model: str
    prompt: str
    system: str = ""
    nominated: tuple[str, ...] = ()
    has_image: bool = False


@dataclass(frozen=True, slots=True)
class Snippet:
    """One language's: what it is called, and the text."""

    name: str
    text: str


def snippets(asked: Asked) -> list[Snippet]:
    return [Snippet("curl", curl(asked)), Snippet("Python", python(asked)), Snippet("JavaScript", javascript(asked))]


def curl(asked: Asked) -> str:
    """For a POSIX shell. The body is quoted piece by piece, since the image goes between two of them."""
    body = _json(_body(asked), indent=2)
    call = "\n".join(
        (
            f"curl {_quoted(f'{asked.base_url}/v1/chat/completions')} \\",
            f"  -H 'Authorization: Bearer {KEY}' \\",
            "  -H 'Content-Type: application/json' \\",
            "  --data-binary @-",
        )
    )
    if not asked.has_image:
        return f"printf '%s' {_quoted(body)} |\n{call}"
    before, after = body.split(_escaped_image())
    return (
        f"{{ printf '%s' {_quoted(before)}\n  base64 < {IMAGE_FILE} | tr -d '\\n'\n  printf '%s' {_quoted(after)}\n}} |\n{call}"
    )


def python(asked: Asked) -> str:
    """For the openai package."""
    arguments = [f"model={_python(asked.model)}", f"messages={_python(_messages(asked), depth=1)}"]
    if asked.nominated:
        arguments.append(f"extra_body={_python({'with': list(asked.nominated)}, depth=1)}")
    lines = ["from openai import OpenAI", ""]
    if asked.has_image:
        lines = ["import base64", "", *lines, f'image = base64.b64encode(open("{IMAGE_FILE}", "rb").read()).decode()']
    lines += [
        f"client = OpenAI(base_url={_python(f'{asked.base_url}/v1')}, api_key={_python(KEY)})",
        "reply = client.chat.completions.create(",
        *(f"    {argument}," for argument in arguments),
        ")",
        "print(reply.choices[0].message.content)",
    ]
    return "\n".join(lines).replace(f'"{_DATA_URL}{_escaped_image()}"', f'f"{_DATA_URL}{{image}}"')


def javascript(asked: Asked) -> str:
    """For the openai package, as an ES module."""
    client = _json({"baseURL": f"{asked.base_url}/v1", "apiKey": KEY})
    lines = ['import OpenAI from "openai";', ""]
    if asked.has_image:
        lines = ['import { readFileSync } from "node:fs";', *lines, f'const image = readFileSync("{IMAGE_FILE}", "base64");']
    lines += [
        f"const client = new OpenAI({client});",
        f"const reply = await client.chat.completions.create({_json(_body(asked), indent=2)});",
        "console.log(reply.choices[0].message.content);",
    ]
    return "\n".join(lines).replace(f'"{_DATA_URL}{_escaped_image()}"', f"`{_DATA_URL}${{image}}`")


def _body(asked: Asked) -> dict[str, Any]:
    body: dict[str, Any] = {"model": asked.model, "messages": _messages(asked)}
    return body | {"with": list(asked.nominated)} if asked.nominated else body


def _messages(asked: Asked) -> list[dict[str, Any]]:
    prompt = _bounded(asked.prompt, "prompt")
    content: Any = prompt
    if asked.has_image:
        content = [{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": _DATA_URL + _IMAGE}}]
    system = [{"role": "system", "content": _bounded(asked.system, "system text")}] if asked.system else []
    return [*system, {"role": "user", "content": content}]


def _bounded(text: str, what: str) -> str:
    return text.replace("\x00", "") if len(text) <= LONGEST_TEXT else f"(the {what} of {len(text):,} characters goes here)"


def _json(value: Any, indent: int | None = None) -> str:
    """JSON, which is JavaScript too, in characters that are seen."""
    return _UNSEEN.sub(lambda found: _utf16(found[0]), json.dumps(value, ensure_ascii=False, indent=indent))


def _python(value: Any, depth: int = 0) -> str:
    """A Python literal of strings, lists and objects: JSON but for what lies beyond 16 bits."""
    text = json.dumps(value, ensure_ascii=False, indent=4 if depth else None).replace("\n", "\n" + "    " * depth)
    return _UNSEEN.sub(lambda found: f"\\U{ord(found[0]):08x}", text)


def _utf16(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _escaped_image() -> str:
    return json.dumps(_IMAGE)[1:-1]


def _quoted(text: str) -> str:
    """One word for a shell, which reads nothing between single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"
