"""The gateway's streams, on the same routes: each seat's section the moment it ends.

Only watches a panel; a hang-up ends the watching, never the panel.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any

import orjson
from channels.generic.http import AsyncHttpConsumer
from rest_framework.exceptions import APIException

from gateway.asked import asked_of
from gateway.conf import conf
from gateway.panel.request import Request
from gateway.panel.run import open_panel
from gateway.panel.running import PanelRun
from gateway.wire import render_refusal
from gateway.wire.contract import StreamEncoder

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
            chat = asked.wire_format.parse_request(asked.payload, **asked.path)
            run = await open_panel(Request(chat, asked.caller, asked.base_url))
        except APIException as error:
            await self._refuse(error)
            return
        except Exception as error:
            # The stream's boundary: nothing has been sent, so the caller still gets a status.
            logger.error("A gateway stream failed", exc_info=error)
            await self._refuse(APIException(BROKEN))
            return
        encoder = asked.wire_format.stream_encoder(chat)
        await self.send_headers(headers=[(b"Content-Type", encoder.content_type.encode()), *_HEADERS])
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
        headers = [(name.encode(), value.encode()) for name, value in rendered.headers.items()]
        await self.send_response(
            rendered.status, orjson.dumps(rendered.body), headers=[(b"Content-Type", b"application/json"), *headers]
        )

    async def _write(self, events: Iterable[bytes]) -> None:
        """One event a write: readers behind a proxy see each as it comes."""
        for event in events:
            await self.send_body(event, more_body=True)


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
