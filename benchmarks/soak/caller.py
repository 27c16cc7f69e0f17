"""Who asks during a soak: one HTTP client that knows what it was answered lately. Judges a reply's status, no more."""

import base64
import itertools
import random
from collections import deque
from collections.abc import Mapping
from typing import Any

import aiohttp
import orjson

PATIENCE = aiohttp.ClientTimeout(total=60)
REMEMBERED = 500
JSON = "application/json"


class WrongReplyError(Exception):
    """A reply that is not what it had to be."""


class Caller:
    """`calls` and `panels` are the ids of late replies, to be judged and read."""

    def __init__(self, session: aiohttp.ClientSession, url: str, page_url: str) -> None:
        self.session, self.url, self.page_url = session, url, page_url
        self.calls: deque[str] = deque(maxlen=REMEMBERED)
        self.panels: deque[str] = deque(maxlen=REMEMBERED)
        self.chance = random.Random(1)
        self._numbers = itertools.count(1)
        self._noise = base64.b64encode(self.chance.randbytes(300_000)).decode()

    def prompt(self, characters: int = 600) -> str:
        """A prompt that was not asked before."""
        number = next(self._numbers)
        return f"Question {number}: " + "which of two writers wins, and who is told? " * (characters // 44)

    def picture(self) -> str:
        """A data URL of another size each time, up to 400 kB."""
        return f"data:image/png;base64,{self._noise[: 4 * self.chance.randrange(5_000, 100_000)]}"

    async def post(
        self, path: str, body: Any, *, expect: int = 200, headers: Mapping[str, str] | None = None, kind: str = JSON
    ) -> bytes:
        """Send JSON, or bytes as they are; the whole reply. Raises WrongReplyError."""
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        sent = {"Content-Type": kind, **(headers or {})}
        async with self.session.post(self.url + path, data=data, headers=sent) as reply:
            return await self._whole(reply, expect)

    async def get(self, path: str, *, expect: int = 200, page: bool = False) -> bytes:
        """The whole reply to a GET, of a page of the dashboard's on the bench itself. Raises WrongReplyError."""
        async with self.session.get((self.page_url if page else self.url) + path) as reply:
            return await self._whole(reply, expect)

    async def _whole(self, reply: aiohttp.ClientResponse, expect: int) -> bytes:
        received = await reply.read()
        if reply.status != expect:
            raise WrongReplyError(f"status {reply.status} instead of {expect}: {received[:200].decode(errors='replace')}")
        return received

    def remember(self, bench: Mapping[str, Any]) -> None:
        """Keep a panel's ids for later."""
        self.panels.append(bench["panel"])
        self.calls.extend(seat["call"] for seat in bench["seats"])
