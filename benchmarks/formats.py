"""Each wire format beside OpenAI chat: server CPU and seconds a panel, 8 callers, the formats in turn in every round.

Run as `python -m benchmarks.formats`. The same five seats answer whatever the format; the figures differ by what reading a
request and writing a reply cost.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
import orjson

from benchmarks.driver import callers
from benchmarks.mock_upstream import ANSWER_BYTES
from benchmarks.processes import Server
from benchmarks.roster import SEATS
from benchmarks.scenarios import PROMPT
from benchmarks.server import Product

COLLECTION = "bench/five"
SAID = [{"role": "user", "content": PROMPT}]
REQUESTS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", {"model": COLLECTION, "messages": SAID}),
    "responses": ("/v1/responses", {"model": COLLECTION, "input": PROMPT}),
    "completions": ("/v1/completions", {"model": COLLECTION, "prompt": PROMPT}),
    "messages": ("/v1/messages", {"model": COLLECTION, "max_tokens": 1000, "messages": SAID}),
    "ollama": ("/api/chat", {"model": COLLECTION, "messages": SAID, "stream": False}),
    "gemini": (f"/v1beta/models/{COLLECTION}:generateContent", {"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]}),
}
CALLERS = 8
PANELS = 96
ROUNDS = 5


async def measured(server: Server, path: str, body: dict[str, Any]) -> tuple[float, float]:
    """CPU milliseconds and wall milliseconds a panel. Exits when a panel is refused or cut short."""
    payload, left, seconds = orjson.dumps(body), PANELS, []

    async def caller(session: aiohttp.ClientSession) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            started = time.perf_counter()
            async with session.post(server.url + path, data=payload, headers={"Content-Type": "application/json"}) as reply:
                received = await reply.read()
            seconds.append(time.perf_counter() - started)
            if reply.status != 200 or len(received) < SEATS * ANSWER_BYTES:
                sys.exit(f"{path}: status {reply.status}, {len(received)} bytes: {received[:300]!r}")

    async with callers() as session:
        before = server.cpu_seconds()
        await asyncio.gather(*(caller(session) for _ in range(CALLERS)))
        spent = server.cpu_seconds() - before
    return 1000 * spent / PANELS, 1000 * median(seconds)


async def in_turn(server: Server) -> dict[str, list[tuple[float, float]]]:
    await measured(server, *REQUESTS["chat"])
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in REQUESTS}
    for _ in range(ROUNDS):
        for name, request in REQUESTS.items():
            found[name].append(await measured(server, *request))
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "benchmarks.mock_upstream", "--port", "{port}"]
        with Server("mock upstream", command, log=Path(folder) / "upstream.log", env=os.environ) as mock:
            product = Product(Path(folder), mock.url)
            product.prepare()
            with product.serving() as served:
                found = asyncio.run(in_turn(served))
    print(f"{ROUNDS} rounds of {PANELS} panels, {CALLERS} callers; medians, and the median of ratios to chat in the same round")
    print(f"{'':14}{'CPU ms':>8}{'ratio':>8}{'wall ms':>10}{'ratio':>8}")
    for name, rounds in found.items():
        ratios = [[one[kind] / chat[kind] for one, chat in zip(rounds, found["chat"], strict=True)] for kind in (0, 1)]
        cpu, wall = (median(one[kind] for one in rounds) for kind in (0, 1))
        print(f"{name:14}{cpu:8.1f}{median(ratios[0]):8.2f}{wall:10.1f}{median(ratios[1]):8.2f}")


if __name__ == "__main__":
    main()
