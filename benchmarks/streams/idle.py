"""Streams that wait: opened a few at a time, each with its longest silence. Judges nothing and starts no server."""

import asyncio
import time
from dataclasses import dataclass

import aiohttp
import orjson

from benchmarks.driver import ROUTE
from benchmarks.scenarios import body

# Who opens thousands of connections at once measures how fast they are accepted; here they are to be held.
OPENED_AT_ONCE = 50
PATIENCE = aiohttp.ClientTimeout(total=None, sock_read=120)


@dataclass(slots=True, kw_only=True)
class Stream:
    """One stream as its reader sees it: seconds of the clock, `longest_gap` between two pieces, comments among them."""

    opened: float
    first_byte: float = 0.0
    last_byte: float = 0.0
    longest_gap: float = 0.0
    keepalives: int = 0
    error: str = ""


async def held(url: str, collection: str, count: int, opened: asyncio.Event) -> list[Stream]:
    """Open `count` streams and read each to its end; `opened` is set when all have begun."""
    connector, gate = aiohttp.TCPConnector(limit=0), asyncio.Semaphore(OPENED_AT_ONCE)
    begun = asyncio.Semaphore(0)
    async with aiohttp.ClientSession(connector=connector, timeout=PATIENCE) as session:
        streams = [asyncio.ensure_future(read(session, url, collection, gate, begun)) for _ in range(count)]
        for _ in range(count):
            await begun.acquire()
        opened.set()
        return list(await asyncio.gather(*streams))


async def read(
    session: aiohttp.ClientSession, url: str, collection: str, gate: asyncio.Semaphore, begun: asyncio.Semaphore
) -> Stream:
    """Read one stream to its end. It has begun when its first byte has come, or when it never will."""
    await gate.acquire()
    stream, end = Stream(opened=time.monotonic()), b""
    waits = [begun.release, gate.release]
    try:
        asked = orjson.dumps(body(collection, stream=True))
        async with session.post(url + ROUTE, data=asked, headers={"Content-Type": "application/json"}) as reply:
            async for piece in reply.content.iter_any():
                _came(stream, piece)
                end = (end + piece)[-64:]
                while waits:
                    waits.pop()()
            if reply.status != 200 or b"[DONE]" not in end:
                stream.error = f"status {reply.status}, ends in {end[-60:].decode(errors='replace')}"
    except (aiohttp.ClientError, TimeoutError) as error:
        stream.error = f"{type(error).__name__}: {error}"
    for wait in waits:
        wait()
    return stream


def _came(stream: Stream, piece: bytes) -> None:
    now = time.monotonic()
    if stream.last_byte:
        stream.longest_gap = max(stream.longest_gap, now - stream.last_byte)
    stream.first_byte = stream.first_byte or now
    stream.last_byte = now
    stream.keepalives += piece.startswith(b":")
