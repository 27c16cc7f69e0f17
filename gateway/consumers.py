"""The gateway's streams, on the same routes: each seat's section the moment it ends.

Only watches a panel; a hang-up ends the watching, never the panel.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import parse_qs

import orjson
from channels.generic.http import AsyncHttpConsumer
from django.db import DatabaseError
from rest_framework.exceptions import APIException

from gateway.asked import Asked, asked_of, raw_headers
from gateway.conf import conf
from gateway.errors import BadRequest, as_refusal
from gateway.panel.elsewhere.looks import LOOK_SECONDS, panels_elsewhere
from gateway.panel.recorded import RecordedRun, ended_after, progress_in, recorded_reply, status_of
from gateway.panel.run import check_collection, open_panel
from gateway.panel.running import PanelRun, running_panels
from gateway.reply import PanelReply
from gateway.wire import render_refusal
from gateway.wire.contract import NoPanel, StreamEncoder
from gateway.workers.ledger import ledger

Piece = TypeVar("Piece")
# Waits for something to happen, for so many seconds; whether it did.
Change = Callable[[float], Awaitable[bool]]
SEATED_WITHIN_SECONDS = 1.0
_HEADERS = [
    (b"Cache-Control", b"no-cache, no-transform"),
    # nginx buffers a proxied reply unless told otherwise.
    (b"X-Accel-Buffering", b"no"),
]


class GatewayConsumer(AsyncHttpConsumer):
    """What the gateway's streams share: a refusal keeps its status and the format's body until the 200 has gone."""

    # None: each stream would open a channel of its own in Redis, and hear nothing there.
    channel_layer_alias = ""

    async def handle(self, body: bytes) -> None:
        try:
            await self.stream(asked_of(self.scope))
        except Exception as error:  # noqa: BLE001
            # The stream's boundary: nothing has been sent, so the caller still gets a status.
            await self._refuse(as_refusal(error))

    async def stream(self, asked: Asked) -> None:
        """Answer the request. Raises only before the first byte."""
        raise NotImplementedError

    async def begin(self, content_type: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        await self.send_headers(headers=[(b"Content-Type", content_type.encode()), *_HEADERS, *raw_headers(headers)])
        # A server keeps the 200 until something is written, if only nothing.
        await self.send_body(b"", more_body=True)

    async def write(self, events: Iterable[bytes]) -> None:
        """One event a write: readers behind a proxy see each as it comes."""
        for event in events:
            await self.send_body(event, more_body=True)

    async def send_json(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        sent = [(b"Content-Type", b"application/json"), *raw_headers(headers)]
        await self.send_response(status, orjson.dumps(body), headers=sent)

    async def _refuse(self, error: APIException) -> None:
        asked = asked_of(self.scope)
        rendered = render_refusal(asked.wire_format, error, asked.route)
        await self.send_json(rendered.status, rendered.body, rendered.headers)


class StreamConsumer(GatewayConsumer):
    """A panel, each section the moment its seat ends, as the format streams."""

    async def stream(self, asked: Asked) -> None:
        chat = await asked.parsed()
        if isinstance(chat, NoPanel):
            await check_collection(asked.caller, chat.model)
            return await self.send_json(200, chat.rendered.body, chat.rendered.headers)
        opening = asyncio.ensure_future(open_panel(asked.request(chat)))
        try:
            # A refusal that is known in time keeps its status; the 200 waits no longer for a shape that is being picked.
            opened, _ = await asyncio.wait({opening}, timeout=SEATED_WITHIN_SECONDS)
            if opened:
                opening.result()
            encoder = asked.wire_format.stream_encoder(chat, asked.format_route)
            await self.begin(encoder.content_type, encoder.headers)
            await self._watch(opening, encoder)
        finally:
            # The panel goes on; this only ends the waiting for it.
            opening.cancel()
        await self.send_body(b"")

    async def _watch(self, opening: asyncio.Future[PanelRun | RecordedRun], encoder: StreamEncoder) -> None:
        await self.write(encoder.start())
        try:
            async for events in _with_silences(_told_of(opening, encoder), conf.keepalive_seconds):
                await self.write(encoder.keepalive() if events is None else events)
            await self.write(encoder.finish(await opening.result().result()))
        except Exception as error:  # noqa: BLE001
            # The stream's boundary: the 200 has gone, so the caller hears of it in the stream.
            refusal = as_refusal(error)
            bench = getattr(refusal, "bench", None)
            await self.write(encoder.error(refusal.status_code, str(refusal.detail), bench=bench))


class EventsConsumer(GatewayConsumer):
    """A panel's seats as server-sent events, one as each ends, numbered: `after` or Last-Event-ID goes on from there."""

    async def stream(self, asked: Asked) -> None:
        panel_id, told = asked.path["panel"], _told_already(self.scope)
        changed, reply = await self._look(panel_id, asked)
        await self.begin("text/event-stream")
        while True:
            for seat in ended_after(reply, told):
                told = seat.ended_as or told
                await self.write([_sse("seat", {"sequence": told, "seat": seat.as_bench()}, told)])
            if status_of(reply) != "running":
                break
            if not await changed(conf.keepalive_seconds):
                await self.write([b": seats are thinking\n\n"])
            try:
                changed, reply = await self._look(panel_id, asked)
            except DatabaseError:
                # It is away, and is asked again; meanwhile the panel is as it was.
                await asyncio.sleep(LOOK_SECONDS)
        await self.write([_sse("end", {"status": status_of(reply), "panel": panel_id})])
        await self.send_body(b"")

    async def _look(self, panel_id: str, asked: Asked) -> tuple[Change, PanelReply]:
        """A panel as the call log has it, and how to wait for what happens next in it, here or in another process."""
        run = running_panels().get(panel_id)
        changed = partial(_happens, run.next_change) if run else None
        reply = await asyncio.wrap_future(ledger().run(partial(recorded_reply, asked.caller, panel_id, asked.base_url)))
        return changed or partial(panels_elsewhere().changed, panel_id, progress_in(reply)), reply


def _told_already(scope: Mapping[str, Any]) -> int:
    """The number of the last event that the caller has. Raises BadRequest.

    A browser that comes back asks for the address that it began with, and says in a header how far it got since.
    """
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    header = dict(scope["headers"]).get(b"last-event-id", b"0").decode("latin-1")
    return max(_number(query.get("after", ["0"])[-1], "after"), _number(header, "Last-Event-ID"))


def _number(last: str, name: str) -> int:
    if not (last.isascii() and last.isdigit() and len(last) < 10):
        raise BadRequest(f"{name} must be the sequence number of the last event that came, such as 2.", param=name)
    return int(last)


async def _happens(change: asyncio.Event, seconds: float) -> bool:
    """Wait for a change, for so many seconds; whether there was one."""
    try:
        await asyncio.wait_for(change.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _sse(name: str, payload: dict[str, Any], number: int | None = None) -> bytes:
    numbered = f"id: {number}\n" if number else ""
    return f"{numbered}event: {name}\ndata: ".encode() + json.dumps(payload).encode() + b"\n\n"


async def _told_of(opening: asyncio.Future[PanelRun | RecordedRun], encoder: StreamEncoder) -> AsyncIterator[tuple[bytes, ...]]:
    """The events of a panel that is still being opened, perhaps: which it is, where the format can say so, then its pieces."""
    run = await opening
    if seated := getattr(encoder, "seated", None):
        yield seated(run.panel_id)
    async for piece in run.pieces():
        yield encoder.text(piece)


async def _with_silences(pieces: AsyncIterator[Piece], seconds: float) -> AsyncIterator[Piece | None]:
    """Yield every piece, and None whenever so many seconds pass without one."""
    upcoming: asyncio.Future[Any] = asyncio.ensure_future(anext(pieces, None))
    try:
        while True:
            # wait, not wait_for: a time-out there would cancel the piece that is on its way.
            ended, _ = await asyncio.wait({upcoming}, timeout=seconds)
            if not ended:
                yield None
                continue
            piece = upcoming.result()
            if piece is None:
                return
            yield piece
            upcoming = asyncio.ensure_future(anext(pieces, None))
    finally:
        upcoming.cancel()
