"""The gateway's streams, on the same routes: each seat's section the moment it ends.

Only watches a panel; a hang-up ends the watching, never the panel.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import orjson
from channels.generic.http import AsyncHttpConsumer
from rest_framework.exceptions import APIException

from gateway.asked import asked_of
from gateway.conf import conf
from gateway.panel.request import Request
from gateway.panel.run import check_collection, open_panel
from gateway.panel.running import PanelRun
from gateway.wire import render_refusal
from gateway.wire.contract import NoPanel, StreamEncoder

logger = logging.getLogger(__name__)

_HEADERS = [
    (b"Cache-Control", b"no-cache, no-transform"),
    # nginx buffers a proxied reply unless told otherwise.
    (b"X-Accel-Buffering", b"no"),
]
BROKEN = "The gateway failed on this request; its log says why."


class StreamConsumer(AsyncHttpConsumer):
    async def handle(self, body: bytes) -> None:
        asked = asked_of(self.scope)
        try:
            chat = asked.wire_format.parse_request(asked.payload, asked.format_route, **asked.path)
            if isinstance(chat, NoPanel):
                await check_collection(chat.model)
                return await self._send_json(200, chat.rendered.body, chat.rendered.headers)
            run = await open_panel(Request(chat, asked.caller, asked.base_url))
        except APIException as error:
            return await self._refuse(error)
        except Exception as error:
            # The stream's boundary: nothing has been sent, so the caller still gets a status.
            logger.error("A gateway stream failed", exc_info=error)
            return await self._refuse(APIException(BROKEN))
        encoder = asked.wire_format.stream_encoder(chat, asked.format_route)
        headers = [(b"Content-Type", encoder.content_type.encode()), *_HEADERS, *_encoded(encoder.headers)]
        await self.send_headers(headers=headers)
        await self._watch(run, encoder)
        await self.send_body(b"")

    async def _watch(self, run: PanelRun, encoder: StreamEncoder) -> None:
        await self._write(encoder.start())
        try:
            async for piece in _with_silences(run.pieces(), conf.keepalive_seconds):
                await self._write(encoder.keepalive() if piece is None else encoder.text(piece))
            await self._write(encoder.finish(await run.result()))
        except APIException as error:
            bench = getattr(error, "bench", None)
            await self._write(encoder.error(error.status_code, str(error.detail), bench=bench))
        except Exception as error:
            # The stream's boundary: the 200 has gone, so the caller hears of it in the stream.
            logger.error("A gateway stream failed", exc_info=error)
            await self._write(encoder.error(500, BROKEN))

    async def _refuse(self, error: APIException) -> None:
        rendered = render_refusal(asked_of(self.scope).wire_format, error)
        await self._send_json(rendered.status, rendered.body, rendered.headers)

    async def _send_json(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        sent = [(b"Content-Type", b"application/json"), *_encoded(headers)]
        await self.send_response(status, orjson.dumps(body), headers=sent)

    async def _write(self, events: Iterable[bytes]) -> None:
        """One event a write: readers behind a proxy see each as it comes."""
        for event in events:
            await self.send_body(event, more_body=True)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


async def _with_silences(pieces: AsyncIterator[str], seconds: float) -> AsyncIterator[str | None]:
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
