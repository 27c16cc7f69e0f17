"""The access log, `bench.access`: a line for each request once its last byte has gone.

    POST /v1/chat/completions 200 1204.3 ms my-app

Method, route, status, milliseconds, and who asked: the gateway key's name, `local` where no key is asked for, `-` on the
dashboard and for whoever was refused before they were known. Reads nothing of a query string, a header or a body.
"""

import logging
import time
from dataclasses import dataclass

from benchsite.log.json_lines import FIELDS
from benchsite.log.routes import UNKNOWN, route_of
from gateway.asked import App, Event, Receive, Scope, Send, asked_of

logger = logging.getLogger("bench.access")

NOTE = "bench.access"
NOBODY = "-"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# What others write for a caller who left before an answer, and what Daphne answers for an application that broke.
LEFT, BROKEN = 499, 500
# How a WebSocket's handshake is answered.
LET_IN, NOT_LET_IN = 101, 403


@dataclass(slots=True)
class Line:
    """One request as it is going to be written down. `route` and `caller` are filled in by whoever lets it in."""

    method: str
    path: str
    began: float
    status: int = LEFT
    route: str = ""
    caller: str = NOBODY
    written: bool = False

    def write(self) -> None:
        if self.written:
            return
        self.written = True
        took = (time.perf_counter() - self.began) * 1000
        route = self.route or route_of(self.path)
        fields = {"method": self.method, "route": route, "status": self.status, "ms": round(took, 1), "caller": self.caller}
        logger.info("%s %s %s %.1f ms %s", self.method, route, self.status, took, self.caller, extra={FIELDS: fields})


class AccessLog:
    """The ASGI app around all others that see a request."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return await self._live(scope, receive, send)
        method = scope["method"] if scope["method"] in METHODS else UNKNOWN
        line = Line(method, scope["path"], time.perf_counter())

        async def watched(event: Event) -> None:
            if event["type"] == "http.response.start":
                line.status = event["status"]
            await send(event)
            if event["type"] == "http.response.body" and not event.get("more_body", False):
                line.write()

        try:
            await self._app({**scope, NOTE: line}, receive, watched)
        except Exception:
            # Told to the caller by Daphne, which hears of it next.
            line.status = BROKEN if line.status == LEFT else line.status
            raise
        finally:
            line.write()

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An open page of the dashboard's is one line, once it is closed: 101, or 403 where it was not let in."""
        line = Line("GET", scope["path"], time.perf_counter(), status=NOT_LET_IN, route=scope["path"])

        async def watched(event: Event) -> None:
            if event["type"] == "websocket.accept":
                line.status = LET_IN
            await send(event)

        try:
            await self._app(scope, receive, watched)
        finally:
            line.write()


def noted(app: App) -> App:
    """`app`, which the edge gives admitted requests, telling the access log whose each is."""

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        if line := scope.get(NOTE):
            asked = asked_of(scope)
            line.caller = asked.caller.name
            line.route = f"/{asked.route.path}" if asked.route else ""
        await app(scope, receive, send)

    return noting
