"""Reaching an ASGI app of this process as if by HTTP, its reply piece by piece.

httpx2's own transport of this kind waits for the whole reply, so that nothing would be told while seats think.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import httpx2

Event = Mapping[str, Any]
App = Callable[[dict[str, Any], Callable[[], Awaitable[Event]], Callable[[Event], Awaitable[None]]], Awaitable[None]]
# What the app is told of who asks: this machine.
_CLIENT = ("127.0.0.1", 0)


class InProcess(httpx2.AsyncBaseTransport):
    def __init__(self, app: App) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = _Exchange(await request.aread())
        exchange.begin(self._app, _scope_of(request))
        try:
            start = await exchange.next_event()
        except BaseException:
            await exchange.aclose()
            raise
        return httpx2.Response(start["status"], headers=list(start.get("headers", ())), stream=exchange)


class _Exchange(httpx2.AsyncByteStream):
    """One request under way: the app runs in a task of its own, and what it sends waits here to be read."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._sent: asyncio.Queue[Event | None] = asyncio.Queue()
        self._left = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    def begin(self, app: App, scope: MutableMapping[str, Any]) -> None:
        self._running = asyncio.ensure_future(self._run(app, dict(scope)))

    async def _run(self, app: App, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._sent.put)
        finally:
            self._sent.put_nowait(None)

    async def _receive(self) -> Event:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def next_event(self) -> Event:
        """Raises httpx2.RemoteProtocolError where the app ended without one."""
        event = await self._sent.get()
        if event is None:
            raise httpx2.RemoteProtocolError("the app ended without a whole reply")
        return event

    async def __aiter__(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            event = await self.next_event()
            more = event.get("more_body", False)
            if body := event.get("body", b""):
                yield body

    async def aclose(self) -> None:
        """Leave, as a caller does who hangs up. The app hears of it, and is ended where it does not go by itself."""
        self._left.set()
        if self._running is None:
            return
        await asyncio.wait({self._running}, timeout=1)
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)


def _scope_of(request: httpx2.Request) -> dict[str, Any]:
    path, _, query = request.url.raw_path.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": _CLIENT,
        "server": (request.url.host, request.url.port),
    }
