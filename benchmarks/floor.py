"""The floor: a bare fan-out that asks five models and returns one JSON, with asyncio and aiohttp alone.

No Django, no call log, no checks: what the panel costs when nothing is done for it.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import orjson
from aiohttp import web

from benchmarks.mock_upstream import BACKLOG
from benchmarks.roster import COLLECTIONS

UPSTREAM = web.AppKey("upstream", str)
SESSION = web.AppKey("session", aiohttp.ClientSession)


async def ask_seat(app: web.Application, model: str, messages: list[Any]) -> dict[str, Any]:
    """One seat as the reply's `bench.seats` has it."""
    started = time.monotonic()
    body = orjson.dumps({"model": model, "messages": messages})
    async with app[SESSION].post(app[UPSTREAM], data=body, headers={"Content-Type": "application/json"}) as reply:
        payload = orjson.loads(await reply.read())
    answer = payload["choices"][0]["message"]["content"]
    return {"alias": model, "status": "ok", "seconds": time.monotonic() - started, "answer": answer}


def section(seat: dict[str, Any]) -> str:
    return f"## member · {seat['alias']}\n\n{seat['answer']}\n\n"


def bench(seats: list[dict[str, Any]]) -> dict[str, Any]:
    return {"answered": len(seats), "degraded": False, "seats": seats}


async def panel(request: web.Request) -> web.StreamResponse:
    asked = orjson.loads(await request.read())
    seats = [ask_seat(request.app, model, asked["messages"]) for model in COLLECTIONS[asked["model"]]]
    if asked.get("stream"):
        return await streamed(request, [asyncio.ensure_future(seat) for seat in seats])
    answered = await asyncio.gather(*seats)
    message = {"role": "assistant", "content": "".join(section(seat) for seat in answered)}
    reply = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "bench": bench(answered)}
    return web.Response(body=orjson.dumps(reply), content_type="application/json")


async def streamed(request: web.Request, seats: list["asyncio.Future[dict[str, Any]]"]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(event({"content": f"# {len(seats)} seats\n\n"}))
    answered = []
    for finished in asyncio.as_completed(seats):
        answered.append(await finished)
        await response.write(event({"content": section(answered[-1])}))
    await response.write(event({}, finish_reason="stop", bench=bench(answered)) + b"data: [DONE]\n\n")
    return response


def event(delta: dict[str, str], finish_reason: str | None = None, **extra: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return b"data: %b\n\n" % orjson.dumps({"choices": [choice], **extra})


async def healthz(request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def upstream_session(app: web.Application) -> AsyncIterator[None]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as app[SESSION]:
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", required=True, help="base URL of the upstream, without /v1")
    args = parser.parse_args()
    app = web.Application()
    app[UPSTREAM] = f"{args.upstream}/v1/chat/completions"
    app.cleanup_ctx.append(upstream_session)
    app.add_routes([web.post("/v1/chat/completions", panel), web.get("/healthz", healthz)])
    web.run_app(app, host="127.0.0.1", port=args.port, backlog=BACKLOG, access_log=None, print=None)


if __name__ == "__main__":
    main()
