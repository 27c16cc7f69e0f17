"""Open pages hear of every process's panels through Redis; with it away, of their own, and nothing fails or waits."""

import asyncio
import json
import signal
import time
from contextlib import asynccontextmanager

import pytest

from benchsite.tests.test_live import live
from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import eventually, needs_redis
from gateway.tests.test_later_reading import ask
from gateway.tests.web_bench import web_bench

pytestmark = needs_redis

MODELS = {"fast": {"model": "say-done"}, "quick": {"model": "slow-0.2"}}


@pytest.fixture
def bench(loud_upstream, tmp_path):
    with web_bench(tmp_path, bench_file(loud_upstream.url, MODELS, {"short": ["fast", "quick"]})) as running:
        yield running


class Page:
    def __init__(self, socket) -> None:
        self._socket = socket
        self.heard: list[str] = []

    async def hears_of(self, panel_id: str, seconds: float = 10) -> bool:
        """Whether it hears of a panel in time, if it has not."""
        deadline = time.monotonic() + seconds
        while panel_id not in self.heard and time.monotonic() < deadline:
            try:
                self.heard.append(json.loads(await asyncio.wait_for(self._socket.recv(), 0.1))["panel"])
            except TimeoutError:
                continue
        return panel_id in self.heard


@asynccontextmanager
async def page_of(server):
    async with live(server) as socket:
        yield Page(socket)


async def asked(server, prompt: str, **fields) -> str:
    reply = await asyncio.to_thread(ask, server, prompt, model="bench/short", **fields)
    assert reply.status == 200, reply.body
    return str(reply.json["bench"]["panel"])


def test_a_page_hears_of_another_processs_panels_and_of_its_own_with_redis_away(bench):
    one, other = bench.servers

    async def story() -> None:
        async with page_of(one) as page:
            assert await page.hears_of(await asked(one, "own"))
            assert await page.hears_of(await asked(other, "another's"))
            bench.redis.stop(signal.SIGKILL)
            assert await page.hears_of(await asked(one, "own, alone"))
            away = await asked(other, "not heard of")
            assert not await page.hears_of(away, 1)
            # A page that is opened now is served all the same, and so is whoever joins a panel of the other process.
            async with page_of(other) as second:
                assert await second.hears_of(await asked(other, "a new page"))
            first = await asyncio.to_thread(ask, one, "keyed", "away-key", model="bench/short")
            again = await asyncio.to_thread(ask, other, "keyed", "away-key", model="bench/short")
            assert first.json["bench"]["panel"] == again.json["bench"]["panel"]
            assert (await asyncio.to_thread(ask, other, "streamed", model="bench/short", stream=True)).status == 200
            assert (await asyncio.to_thread(one.request, "GET", "/admin/")).status in (200, 302)
            assert "Redis is away" in one.log
            bench.redis.start()
            await asyncio.to_thread(eventually, lambda: "Redis is back" in one.log, 30)
            await back(page, other)

    async def back(page: Page, server) -> None:
        """Both ways are up again a little after each other."""
        for number in range(20):
            if await page.hears_of(await asked(server, f"back {number}"), 1):
                return
        raise AssertionError("the page hears of the other process no more")

    asyncio.run(story())
    assert " 500 " not in one.log


def test_a_redis_that_hangs_holds_nobody_up(bench):
    one, _ = bench.servers

    async def story() -> None:
        async with page_of(one) as page:
            assert await page.hears_of(await asked(one, "before"))
            bench.redis.process.send_signal(signal.SIGSTOP)
            try:
                for number in range(3):
                    assert await page.hears_of(await asked(one, f"meanwhile {number}"))
            finally:
                bench.redis.process.send_signal(signal.SIGCONT)

    asyncio.run(story())
