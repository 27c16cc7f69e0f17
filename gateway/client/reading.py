"""Reading what a bench sends: server-sent events, refusals."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import orjson

from gateway.client.errors import BenchError, RefusedError, UnreachableError

# In digits: more of them are no wait that anybody means.
_LONGEST_WAIT = 10


@dataclass(frozen=True, slots=True)
class Event:
    """One block of a stream: an event, or a comment alone. `name` is empty where none was said."""

    name: str = ""
    data: str = ""
    comment: str = ""


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """Each block of a stream as soon as its blank line has come. A bench ends lines with LF alone."""
    held = b""
    async for chunk in chunks:
        *blocks, held = (held + chunk).split(b"\n\n")
        for block in blocks:
            yield _event(block.decode(errors="replace"))


def _event(block: str) -> Event:
    fields: dict[str, str] = {}
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        fields[name] = value.removeprefix(" ")
    return Event(fields.get("event", ""), fields.get("data", ""), fields.get("", ""))


def comment_in(event: Event, word: str) -> str:
    """What a comment says behind its first word, where that is `word`: a bench names a panel so before it has any text."""
    first, _, said = event.comment.partition(" ")
    return said if first == word else ""


async def refusal(url: str, response: httpx2.Response) -> BenchError:
    """Why a request was turned away, in the bench's own words; or that whoever answered is no bench."""
    try:
        body = orjson.loads(await response.aread())
        return RefusedError(
            response.status_code,
            str(body["error"]["message"]),
            wait=_seconds(response.headers.get("retry-after", "")),
            bench=_panel_in(body),
        )
    except (ValueError, KeyError, TypeError, AttributeError, httpx2.RequestError):
        return UnreachableError(url, f"answered HTTP {response.status_code} and is no bench, or something in between did.")


def chunk_in(url: str, data: str) -> tuple[str, dict[str, Any]]:
    """The text that a chunk of a reply adds, and the `bench` field where it has one.

    Raises RefusedError for a refusal that came when the 200 had gone, UnreachableError for what is no bench's.
    """
    try:
        chunk = orjson.loads(data)
        if error := chunk.get("error"):
            status = 429 if error.get("type") == "requests" else 502
            raise RefusedError(status, str(error["message"]), bench=_panel_in(chunk))
        text = "".join(choice["delta"].get("content") or "" for choice in chunk["choices"])
        return text, _panel_in(chunk) or {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreachableError(url, "sent something else than a bench's stream.") from error


def _panel_in(body: dict[str, Any]) -> dict[str, Any] | None:
    """The `bench` field of a body that has one. Raises TypeError, KeyError for one that tells of no panel."""
    bench: dict[str, Any] | None = body.get("bench") or None
    if bench and not isinstance(bench["panel"], str):
        raise TypeError("no panel's id")
    return bench


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST_WAIT else None
