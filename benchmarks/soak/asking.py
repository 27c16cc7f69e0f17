"""What is asked for panels: each format, plain and streamed, merged, with pictures, too long for one message, twice, and by
callers who hang up.

A reply counts only when each seat answered in full and it ends as its format does.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson

from benchmarks.driver import fault
from benchmarks.soak.caller import Caller, WrongReplyError
from benchmarks.soak.sites import FAILING

FIVE, CHAT = "bench/five", "/v1/chat/completions"
ANSWER = b"Answer of "
LONG_CHARACTERS = 60_000

# By format: the route, what a stream of it ends in, and its body for a prompt.
FORMATS: Mapping[str, tuple[str, bytes, Any]] = {
    "responses": ("/v1/responses", b"response.completed", lambda said: {"model": FIVE, "input": said}),
    "completions": ("/v1/completions", b"[DONE]", lambda said: {"model": FIVE, "prompt": said}),
    "messages": ("/v1/messages", b"message_stop", lambda said: {"model": FIVE, "max_tokens": 99, "messages": _said(said)}),
    "ollama": ("/api/chat", b'"done": true', lambda said: {"model": FIVE, "messages": _said(said)}),
    "generate": ("/api/generate", b'"done": true', lambda said: {"model": FIVE, "prompt": said}),
}
GEMINI = f"/v1beta/models/{FIVE}:"


async def chat(caller: Caller, *, collection: str = FIVE, stream: bool = False, characters: int = 600) -> None:
    body = {"model": collection, "messages": _said(caller.prompt(characters)), "stream": stream}
    received = await caller.post(CHAT, body)
    if wrong := fault(200, received, streams=stream):
        raise WrongReplyError(wrong)
    if not stream:
        caller.remember(orjson.loads(received)["bench"])


async def merged(caller: Caller, *, stream: bool) -> None:
    body = {"model": "bench/merge", "messages": _said(caller.prompt()), "stream": stream}
    bench = _bench(await caller.post(CHAT, body), stream=stream)
    if bench.get("merger", {}).get("status") != "ok" or bench["answered"] != len(bench["seats"]):
        raise WrongReplyError(f"not merged: {bench.get('note') or bench}")
    caller.calls.append(bench["merger"]["call"])


async def by_format(caller: Caller, *, name: str, stream: bool) -> None:
    path, end, body = FORMATS[name]
    received = await caller.post(path, {**body(caller.prompt()), "stream": stream})
    _has_all(received, end if stream else b"")


async def gemini(caller: Caller, *, verb: str, end: bytes = b"STOP") -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": caller.prompt()}]}]}
    _has_all(await caller.post(GEMINI + verb, body), end)


async def seen(caller: Caller) -> None:
    """A picture, which three seats see and two explorers cannot."""
    parts = [{"type": "text", "text": caller.prompt()}, {"type": "image_url", "image_url": {"url": caller.picture()}}]
    received = await caller.post(CHAT, {"model": "bench/see", "messages": [{"role": "user", "content": parts}]})
    bench = orjson.loads(received)["bench"]
    if [seat["status"] for seat in bench["seats"]] != ["ok"] * 3:
        raise WrongReplyError(f"a picture was not seen by three: {bench['seats']} {bench['skipped']}")


async def partly(caller: Caller) -> None:
    """A panel of which one seat fails, or is passed over because it does."""
    bench = _bench(await caller.post(CHAT, {"model": "bench/partly", "messages": _said(caller.prompt())}), stream=False)
    failed = [seat["alias"] for seat in bench["seats"] if seat["status"] != "ok"]
    if not bench["degraded"] or set(failed) - {FAILING}:
        raise WrongReplyError(f"not only {FAILING} failed: {bench['seats']}")


async def twice(caller: Caller) -> None:
    """The same key again joins, or repeats, the same panel."""
    body, key = {"model": FIVE, "messages": _said(caller.prompt())}, {"Idempotency-Key": caller.prompt()[:20]}
    first = orjson.loads(await caller.post(CHAT, body, headers=key))["bench"]
    again = orjson.loads(await caller.post(CHAT, body, headers=key))["bench"]
    if first["panel"] != again["panel"]:
        raise WrongReplyError("a repeated request ran another panel")


async def hung_up(caller: Caller) -> None:
    """Gone after the first answer; the panel goes on, and what is left unfinished is counted at the end."""
    body = {"model": FIVE, "messages": _said(caller.prompt()), "stream": True}
    async with caller.session.post(caller.url + CHAT, json=body) as reply:
        received = b""
        while ANSWER not in received:
            piece = await reply.content.readany()
            if not piece:
                raise WrongReplyError(f"the stream ended before an answer: {received[-200:]!r}")
            received += piece
        reply.close()


async def over_mcp(caller: Caller, *, tool: str, arguments: Mapping[str, Any] | None = None) -> None:
    asked = arguments and {**arguments, "prompt": caller.prompt()}
    params = {"name": tool, "arguments": asked or {}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    received = await caller.post("/mcp", call, headers=accept)
    if b'"isError":true' in received or (ANSWER if asked else b"bench/five") not in received:
        raise WrongReplyError(f"the tool {tool} says: {received[:300]!r}")


def _said(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def _has_all(received: bytes, end: bytes) -> None:
    if received.count(ANSWER) < 5 or end not in received:
        raise WrongReplyError(f"{received.count(ANSWER)} answers, ends in {received[-200:]!r}")


def _bench(received: bytes, *, stream: bool) -> dict[str, Any]:
    """The bench field of a chat's reply. Raises WrongReplyError."""
    if not stream:
        return dict(orjson.loads(received)["bench"])
    lines = received.rstrip().split(b"\n\n")
    held = next((line for line in reversed(lines) if b'"bench"' in line), b"")
    if lines[-1] != b"data: [DONE]" or not held:
        raise WrongReplyError(f"the stream was cut short: {received[-200:]!r}")
    return dict(orjson.loads(held.partition(b"data: ")[2])["bench"])


# What a caller does, and how often among all that callers do.
PANELS: Mapping[str, tuple[float, Any]] = {
    "chat": (20, chat),
    "chat, streamed": (16, partial(chat, stream=True)),
    "explorers": (8, partial(chat, collection="bench/explore")),
    "explorers, streamed": (4, partial(chat, collection="bench/explore", stream=True)),
    "long prompt": (2, partial(chat, characters=LONG_CHARACTERS)),
    "merged": (3, partial(merged, stream=False)),
    "merged, streamed": (3, partial(merged, stream=True)),
    "picture": (3, seen),
    "one seat fails": (2, partly),
    "asked twice": (2, twice),
    "hung up": (2, hung_up),
    "mcp ask": (1, partial(over_mcp, tool="ask", arguments={"collection": FIVE})),
    **{name: (2, partial(by_format, name=name, stream=False)) for name in FORMATS},
    **{f"{name}, streamed": (2, partial(by_format, name=name, stream=True)) for name in FORMATS},
    "gemini": (2, partial(gemini, verb="generateContent")),
    "gemini, streamed": (2, partial(gemini, verb="streamGenerateContent?alt=sse")),
    "gemini, in a list": (1, partial(gemini, verb="streamGenerateContent")),
}
