"""A provider that writes down every call that it receives and every answer that it gives to its end; at times it is silent.

`python -m benchmarks.faults.upstream --port PORT --record FILE`. A line of the file is one event, as JSON.
"""

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import TextIO

from aiohttp import web

from benchmarks.faults.roster import MARK, answer_of, seconds_of

# Far longer than anybody waits for it.
SILENT_SECONDS = 300
PIECE = 100_000


class Upstream:
    def __init__(self, record: TextIO) -> None:
        self._record = record
        self._silent = False

    async def healthy(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def hush(self, request: web.Request) -> web.Response:
        """From now on calls are accepted and not answered, or are again."""
        self._silent = (await request.json())["silent"]
        return web.json_response({"silent": self._silent})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        model, said = asked["model"], json.dumps(asked["messages"])
        found = MARK.search(said)
        mark = found[0] if found else ""
        self._write("asked", model, mark)
        if self._silent:
            await asyncio.sleep(SILENT_SECONDS)
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        answer, seconds = answer_of(model, mark), seconds_of(model)
        # A third of the time for the first of it, so that a break leaves something behind.
        await asyncio.sleep(seconds / 3)
        await reply.prepare(request)
        half = len(answer) // 2
        await self._say(reply, model, answer[:half])
        await asyncio.sleep(2 * seconds / 3)
        await self._say(reply, model, answer[half:])
        await reply.write(_event(model, {}, "stop") + b"data: [DONE]\n\n")
        await reply.write_eof()
        self._write("answered", model, mark)
        return reply

    async def _say(self, reply: web.StreamResponse, model: str, text: str) -> None:
        for start in range(0, len(text), PIECE):
            await reply.write(_event(model, {"content": text[start : start + PIECE]}, None))

    def _write(self, event: str, model: str, mark: str) -> None:
        self._record.write(json.dumps({"event": event, "model": model, "mark": mark, "at": time.time()}) + "\n")
        self._record.flush()


def _event(model: str, delta: dict[str, str], finish_reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--record", type=Path, required=True)
    options = parser.parse_args()
    with options.record.open("w") as record:
        upstream = Upstream(record)
        app = web.Application()
        app.router.add_get("/healthz", upstream.healthy)
        app.router.add_post("/hush", upstream.hush)
        app.router.add_post("/v1/chat/completions", upstream.complete)
        web.run_app(app, host="127.0.0.1", port=options.port, print=None, backlog=2048, access_log=None)


if __name__ == "__main__":
    main()
