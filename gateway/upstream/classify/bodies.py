"""What an error body says, out of the many shapes that providers give it.

Finds its words and its codes; what they mean is rows.py.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

from gateway.redact import beginning
from gateway.upstream.payload import mapping_of, read_json, short, text_of, whole_characters

# Where providers put their words, the most telling first.
WORDS = ("error", "message", "detail", "errors", "msg", "error_description", "title")
CODES = frozenset({"code", "type", "status", "error_type", "error_code", "reason", "quotaid", "limit_source"})
# Parts that repeat the request, whose words are the caller's.
ECHOES = frozenset({"input", "inputs", "body", "request", "ctx", "messages", "contents", "prompt"})
DEEPEST = 6
MOST_CODES = 40
LONGEST_BODY = 64_000
LONGEST_TITLE = 500

_TAG = re.compile(rb"<(?:!doctype|html|head|body|title|h1|center|script|style|div|p)\b", re.IGNORECASE)
_EVENT = re.compile(rb"^(?:data|error): ?(\{.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an error body says: its words, its codes in lower case, and the JSON that it was. `page`: it was HTML."""

    message: str = ""
    codes: tuple[str, ...] = ()
    payload: Any = None
    page: bool = False

    def has(self, text: re.Pattern[str] | None, code: re.Pattern[str] | None) -> bool:
        """Whether `text` is found in the words, or one of the codes is `code`, whole."""
        if text and text.search(self.message):
            return True
        return code is not None and any(code.fullmatch(one) for one in self.codes)


def what_is_said(body: bytes) -> Said:
    """Read a body of any kind; an unreadable one says its own text."""
    body = body[:LONGEST_BODY].removeprefix(codecs.BOM_UTF8).strip()
    event = _EVENT.search(body)
    for candidate in (body, event[1] if event else b""):
        if candidate[:1] in (b"{", b"["):
            try:
                return said_in(read_json(candidate))
            except ValueError:
                continue
    if _TAG.search(body[:2000]):
        return Said(message=unescape(_title(body).decode("utf-8", "replace")), page=True)
    return Said(message=body.decode("utf-8", "replace"))


def said_in(payload: Any) -> Said:
    """Read parsed JSON of any shape."""
    codes = tuple(code for code, _ in zip(_codes(payload), range(MOST_CODES), strict=False))
    return Said(message=whole_characters(beginning(_words(payload), LONGEST_BODY)), codes=codes, payload=payload)


def _title(page: bytes) -> bytes:
    """A page's title, found without a pattern: of those that begin and never end, each would be read to the page's end."""
    lowered = page.lower()
    opening = lowered.find(b"<title")
    start = lowered.find(b">", opening) + 1 if opening >= 0 else 0
    end = lowered.find(b"</title", start) if start else 0
    return page[start:end][:LONGEST_TITLE] if end > 0 else b""


def _words(value: Any, depth: int = 0) -> str:
    if not value or depth > DEEPEST:
        return ""
    if isinstance(value, str):
        return _unpacked(value, depth)
    if isinstance(value, list):
        return "; ".join(words for item in value[:3] if (words := _words(item, depth + 1)))
    found = mapping_of(value)
    words = next((words for name in WORDS if (words := _words(found.get(name), depth + 1))), "")
    return _placed(found, words, depth) if words else ""


def _unpacked(text: str, depth: int) -> str:
    """A message may itself be the JSON text of an error."""
    if text[:1] in ("{", "["):
        try:
            return _words(read_json(text.encode("utf-8", "replace")), depth + 1) or text
        except ValueError:
            return text
    return text


def _placed(found: Any, words: str, depth: int) -> str:
    """Add what says where: FastAPI's path to the field, the provider behind a relay."""
    if isinstance(found.get("loc"), list):
        field = ".".join(str(step) for step in found["loc"][1:])
        return f"{field}: {words}" if field else words
    behind = mapping_of(found.get("metadata"))
    raw = _words(behind.get("raw"), depth + 1)
    name = short(text_of(behind.get("provider_name")))
    words = f"{words} ({name})" if name else words
    return f"{words}: {raw}" if raw and not words.startswith(raw) else words


def _codes(value: Any, depth: int = 0) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for item in value[:10]:
            yield from _codes(item, depth + 1)
    for name, inner in mapping_of(value).items():
        if isinstance(inner, dict | list) and name not in ECHOES:
            yield from _codes(inner, depth + 1)
        elif name.lower() in CODES and isinstance(inner, str | int):
            yield str(inner).lower()[:80]
