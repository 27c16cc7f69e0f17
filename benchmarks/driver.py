"""The load: callers that ask a URL with a body, one after the other or many at once, and time what comes back.

Runs in another process than the servers, so that its CPU is not theirs. Knows no scenario and no product.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from benchmarks.mock_upstream import ANSWER_BYTES
from benchmarks.roster import SEATS

ROUTE = "/v1/chat/completions"
FIRST_ANSWER = b"Answer of "
PATIENCE = aiohttp.ClientTimeout(total=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """How one request went, in seconds from before it was sent. `error` is empty when every seat answered in full."""

    seconds: float
    first_byte: float | None = None
    first_section: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """What callers saw: panels in the order they ended, and the seconds from the first request to the last reply."""

    panels: tuple[Panel, ...]
    seconds: float

    @property
    def errors(self) -> list[str]:
        return [panel.error for panel in self.panels if panel.error]


def callers() -> aiohttp.ClientSession:
    """Connections that stay open between requests, as many as there are callers; to be used in `async with`."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=PATIENCE)


async def load(
    session: aiohttp.ClientSession, url: str, body: dict[str, Any], *, concurrency: int, panels: int, seconds: float
) -> Load:
    """Ask with `concurrency` callers, each again once its reply is in, until `panels` were asked or `seconds` are over."""
    payload, streams = orjson.dumps(body), bool(body.get("stream"))
    started = time.perf_counter()
    left, done = panels, []

    async def caller() -> None:
        nonlocal left
        while left > 0 and time.perf_counter() - started < seconds:
            left -= 1
            done.append(await ask(session, url + ROUTE, payload, streams=streams))

    await asyncio.gather(*(caller() for _ in range(min(concurrency, panels))))
    return Load(tuple(done), time.perf_counter() - started)


async def ask(session: aiohttp.ClientSession, url: str, payload: bytes, *, streams: bool) -> Panel:
    started = time.perf_counter()
    first_byte = first_section = None
    received = bytearray()
    try:
        async with session.post(url, data=payload, headers={"Content-Type": "application/json"}) as reply:
            async for piece in reply.content.iter_any():
                first_byte = first_byte or time.perf_counter() - started
                received += piece
                if streams and first_section is None and FIRST_ANSWER in received:
                    first_section = time.perf_counter() - started
            status = reply.status
    except (aiohttp.ClientError, TimeoutError) as error:
        return Panel(seconds=time.perf_counter() - started, error=f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - started
    return Panel(
        seconds=seconds,
        first_byte=first_byte,
        first_section=first_section,
        error=fault(status, bytes(received), streams=streams),
    )


def fault(status: int, received: bytes, *, streams: bool) -> str:
    """Why this reply does not count: refused, cut short, or a seat that did not answer in full. Empty when it does."""
    if status != 200:
        return f"status {status}: {received[:200].decode(errors='replace')}"
    try:
        reply = _last_event(received) if streams else orjson.loads(received)
        if isinstance(reply, list):
            return _fault_of_a_list(reply)
        bench = reply["bench"]
        seats = bench["seats"]
    except (ValueError, KeyError, TypeError, StopIteration) as error:
        return f"not a panel's reply ({error!r}): {received[-200:].decode(errors='replace')}"
    short = [seat for seat in seats if seat["status"] != "ok" or len(seat["answer"]) != ANSWER_BYTES]
    if short:
        return f"{short[0]['alias']} {short[0]['status']}: {short[0].get('error') or 'not the whole answer'}"
    if len(seats) != SEATS or bench["degraded"]:
        return f"{len(seats)} seats of {SEATS}, skipped: {bench.get('skipped')}"
    return ""


def _fault_of_a_list(completions: list[Any]) -> str:
    """The same for a reply that is a list of completions, one a model. Raises KeyError and TypeError for anything else."""
    answers = [completion["choices"][0]["message"]["content"] for completion in completions]
    return "" if [len(answer) for answer in answers] == [ANSWER_BYTES] * SEATS else f"{len(answers)} answers, or a short one"


def _last_event(received: bytes) -> Any:
    """The event that carries the bench field; ValueError for a stream that did not end with [DONE]."""
    events = [line[6:] for line in received.split(b"\n") if line.startswith(b"data: ")]
    if not events or events[-1] != b"[DONE]":
        raise ValueError("the stream was cut short")
    return orjson.loads(next(event for event in reversed(events) if b'"bench"' in event))
