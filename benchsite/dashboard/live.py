"""The dashboard's live channel: tells a page which panels change, for as long as it is open and its user logged in.

It carries ids alone, one way. Who may listen is who may see the dashboard, and is looked at again every minute.
"""

import asyncio
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from typing import Any

from asgiref.sync import sync_to_async
from autobahn.exception import Disconnected
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from benchsite.dashboard.admin_token import end_if_of_another_token
from benchsite.dashboard.local_login import is_local, signed_in
from evidence.live import GROUP, LAYER

LOOKED_AT_AGAIN_SECONDS = 60.0
# A page that is refused asks no more; one that is cut off does.
NOT_LOGGED_IN = 4401


class LiveConsumer(AsyncJsonWebsocketConsumer):
    channel_layer_alias = LAYER
    _watch: "asyncio.Task[None] | None" = None

    async def connect(self) -> None:
        if not await may_look(self.scope):
            await self.close(NOT_LOGGED_IN)
            return
        await self.channel_layer.group_add(GROUP, self.channel_name)
        await self.accept()
        self._watch = asyncio.ensure_future(self._look_again())

    async def disconnect(self, code: int) -> None:
        if self._watch:
            self._watch.cancel()
        await self.channel_layer.group_discard(GROUP, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Pages have nothing to say here."""

    async def panel_changed(self, event: dict[str, Any]) -> None:
        # Of a page that has just closed its end, the server hears a moment later; until then it stays in the group.
        with suppress(Disconnected):
            await self.send_json({"panel": event["panel"]})

    async def _look_again(self) -> None:
        with suppress(asyncio.CancelledError):
            while await may_look(self.scope):
                await asyncio.sleep(LOOKED_AT_AGAIN_SECONDS)
            await self.close(NOT_LOGGED_IN)


@sync_to_async
def may_look(scope: dict[str, Any]) -> bool:
    """Whether the handshake's sender may see the dashboard, by the rules that hold for its pages."""
    request = _as_request(scope)
    end_if_of_another_token(request.session)
    open_here = not settings.BENCHWARMERS_ADMIN_TOKEN and is_local(request)
    user = signed_in(request) if open_here else get_user(request)
    return user.is_active and user.is_staff


def _as_request(scope: dict[str, Any]) -> HttpRequest:
    """The handshake as those rules read a request: its address, its headers, its session."""
    request = HttpRequest()
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    request.META = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    request.META["REMOTE_ADDR"] = (scope.get("client") or [""])[0]
    cookies: SimpleCookie = SimpleCookie()
    with suppress(CookieError):
        cookies.load(headers.get("cookie", ""))
    sent = cookies.get(settings.SESSION_COOKIE_NAME)
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(sent.value if sent else None)
    return request
