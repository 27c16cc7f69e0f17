"""What is asked beside panels: verdicts, lists, panels and their events, refusals, pages of the dashboard, numbers.

No provider is asked for any of it.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import aiohttp
import orjson

from benchmarks.soak.asking import CHAT, FIVE, over_mcp
from benchmarks.soak.caller import Caller, WrongReplyError

LISTS = ("/v1/models", "/api/tags", "/v1beta/models", "/bench/collections", "/healthz", "/readyz", f"/v1/models/{FIVE}")
PAGES = (
    "/admin/",
    "/admin/evidence/panel/",
    "/admin/evidence/panel/?verdicts=owed",
    "/admin/evidence/tally/",
    "/admin/evidence/tally/trends/",
    "/admin/evidence/tally/owed/",
    "/admin/collections_app/collection/",
    "/admin/collections_app/languagemodel/",
    "/admin/playground/",
    "/metrics",
)
LIVE = "/admin/live/"
SAID = [{"role": "user", "content": "Is this refused?"}]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}
# The route, the status and the body of what is refused.
REFUSED: tuple[tuple[str, int, Any], ...] = (
    (CHAT, 404, {"model": "bench/nowhere", "messages": SAID}),
    (CHAT, 400, {"messages": SAID}),
    (CHAT, 400, {"model": FIVE, "messages": SAID, "tools": [TOOL]}),
    (CHAT, 400, {"model": FIVE, "messages": SAID, "with": ["nobody"]}),
    (CHAT, 400, b"{"),
    ("/v1/messages", 404, {"model": "bench/nowhere", "max_tokens": 9, "messages": SAID}),
    ("/api/chat", 400, {"model": FIVE, "messages": SAID, "tools": [TOOL]}),
    ("/v1beta/models/bench/nowhere:generateContent", 404, {"contents": [{"parts": [{"text": "?"}]}]}),
    ("/v1/embeddings", 404, {"model": FIVE, "input": "?"}),
    ("/bench/verdict", 404, {"call": "p20200101-000000-0000.member1", "useful": True}),
    ("/bench/verdict", 400, {"useful": "yes"}),
)


async def verdict(caller: Caller) -> None:
    """On a call of late, now and then once more and another."""
    if not caller.calls:
        return
    given = {"call": caller.chance.choice(caller.calls), "useful": caller.chance.random() < 0.6, "note": caller.prompt(100)}
    if not orjson.loads(await caller.post("/bench/verdict", given))["ok"]:
        raise WrongReplyError("a verdict was not taken")


async def listed(caller: Caller) -> None:
    await caller.get(caller.chance.choice(LISTS))


async def counted(caller: Caller) -> None:
    body = {"model": FIVE, "messages": [{"role": "user", "content": caller.prompt()}]}
    await caller.post("/v1/messages/count_tokens", body)


async def panel_read(caller: Caller) -> None:
    if caller.panels:
        panel = caller.chance.choice(caller.panels)
        if orjson.loads(await caller.get(f"/bench/panels/{panel}"))["status"] != "done":
            raise WrongReplyError(f"{panel} was answered and is not done")


async def events_read(caller: Caller) -> None:
    if caller.panels:
        received = await caller.get(f"/bench/panels/{caller.chance.choice(caller.panels)}/events?after=2")
        if received.count(b"event: seat") != 3 or b"event: end" not in received:
            raise WrongReplyError(f"not three more seats and an end: {received[-200:]!r}")


async def refused(caller: Caller) -> None:
    path, status, body = caller.chance.choice(REFUSED)
    await caller.post(path, body, expect=status)


async def no_json(caller: Caller) -> None:
    await caller.post(CHAT, b"model=bench/five", expect=415, kind="application/x-www-form-urlencoded")


async def page(caller: Caller) -> None:
    await caller.get(caller.chance.choice(PAGES), page=True)


async def watched(caller: Caller, until: asyncio.Event) -> None:
    """A page of the dashboard that is left open for a while, and opened again: it has to hear of panels."""
    address, origin = caller.page_url.replace("http", "ws", 1) + LIVE, {"Origin": caller.page_url}
    while not until.is_set():
        heard, ends = 0, asyncio.get_running_loop().time() + caller.chance.uniform(20, 90)
        async with caller.session.ws_connect(address, headers=origin, timeout=aiohttp.ClientWSTimeout(ws_close=10)) as page:
            while not until.is_set() and (left := ends - asyncio.get_running_loop().time()) > 0:
                try:
                    heard += (await page.receive(timeout=min(left, 5))).type == aiohttp.WSMsgType.TEXT
                except TimeoutError:
                    continue
        if not heard and not until.is_set():
            raise WrongReplyError("an open page heard of no panel")


BESIDE: Mapping[str, tuple[float, Any]] = {
    "verdict": (8, verdict),
    "lists": (5, listed),
    "panel read": (3, panel_read),
    "events": (3, events_read),
    "refused": (6, refused),
    "no json": (1, no_json),
    "tokens counted": (1, counted),
    "mcp list": (1, partial(over_mcp, tool="list_collections")),
}
