"""The official SDK's client at both of the bench's doors for agents, and a bench for them to ask."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from django.conf import settings
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from gateway.tests.running_server import RunningServer

# None is active, so that no explorer joins: `with` names those who are to.
MODELS = {
    "fast": {"model": "say-No-stale-read.", "status": "ad_hoc"},
    "steady": {"model": "slow-0.3", "status": "ad_hoc"},
    "late": {"model": "slow-6", "status": "ad_hoc"},
    "echo": {"model": "echo", "status": "ad_hoc"},
    "broken": {"model": "err-500", "status": "ad_hoc"},
    "gone": {"model": "say-gone", "status": "retired"},
    "extra": {"model": "say-Named.", "status": "ad_hoc"},
}
COLLECTIONS = {
    "pair": ["fast", "steady"],
    "late": ["fast", "late"],
    "echoing": ["echo"],
    "half": ["fast", "broken", "gone"],
    "failing": ["broken"],
}


@dataclass
class Progress:
    """What a client was told while a tool ran."""

    told: list[tuple[float, float | None, str | None]] = field(default_factory=list)
    first: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append((progress, total, message))
        self.first.set()

    @property
    def words(self) -> str:
        return "\n".join(str(message) for _, _, message in self.told)


@dataclass(frozen=True)
class Door:
    """One way to a server's tools: `over` http or stdio, in the protocol's newest generation or in the one before."""

    over: str
    mode: str = "auto"

    def __str__(self) -> str:
        return f"{self.over}-{self.mode}"

    @asynccontextmanager
    async def opened(self, server: RunningServer, key: str = "", **environment: str) -> AsyncIterator[Client]:
        if self.over == "stdio":
            # A data folder of its own: it has no part in the server's.
            own = {"BENCH_DATA_DIR": str(server.folder / "agent"), "DJANGO_SETTINGS_MODULE": "benchsite.settings"}
            sent = os.environ | own | {"BENCHWARMERS_URL": server.base_url, "BENCHWARMERS_KEY": key} | environment
            command = StdioServerParameters(
                command=sys.executable, args=["manage.py", "mcp"], env=sent, cwd=str(settings.BASE_DIR)
            )
            async with Client(command, mode=self.mode) as client:
                yield client
            return
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{server.base_url}/mcp", http_client=http), mode=self.mode) as client,
        ):
            yield client


DOORS = (Door("http"), Door("http", "legacy"), Door("stdio"), Door("stdio", "legacy"))
HTTP, STDIO = DOORS[:2], DOORS[2:]
# One of each, where the generation of the protocol makes no difference.
EITHER = (HTTP[0], STDIO[0])


def through(door: Door, server: RunningServer, story: Callable[[Client], Awaitable[Any]], key: str = "", **said: str) -> Any:
    """Run a story of one client, and return what it returns."""

    async def told() -> Any:
        async with door.opened(server, key, **said) as client:
            return await story(client)

    try:
        return asyncio.run(told())
    except BaseExceptionGroup as group:
        # The SDK's task groups wrap what a story raises.
        raise innermost(group) from None


def innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content)
