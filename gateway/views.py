"""The gateway's JSON replies: panels that are not streamed, lists of models, panels read back.

A view waits for a panel in the event loop, never in a thread, and never while it holds a database connection.
"""

import asyncio
from functools import partial
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.request import Request as DrfRequest
from rest_framework.response import Response
from rest_framework.views import APIView

from evidence.negotiation import JsonAlways
from gateway.asked import Asked, asked_of
from gateway.errors import as_refusal
from gateway.panel.listing import collections_to_ask, listed_collection, listed_collections
from gateway.panel.recorded import recorded_panel
from gateway.panel.run import check_collection, open_panel
from gateway.panel.size import estimate
from gateway.wire import render_refusal
from gateway.wire.contract import NoPanel, Rendered
from gateway.wire.reading import Fields
from gateway.workers.ledger import ledger


class AsyncAPIView(APIView):
    """DRF's request lifecycle with asynchronous handlers: DRF itself has none."""

    content_negotiation_class = JsonAlways

    async def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        # None of DRF's: Allow belongs to a 405, and nothing here varies.
        self.headers: dict[str, str] = {}
        try:
            self.initial(self.request, *args, **kwargs)
            response = await self._handler()(self.request, **kwargs)
        except Exception as error:  # noqa: BLE001
            # DRF's own boundary: handle_exception turns it into a reply through EXCEPTION_HANDLER.
            response = self.handle_exception(error)
        self.response = self.finalize_response(self.request, response, *args, **kwargs)
        return self.response

    def _handler(self) -> Any:
        return getattr(self, str(self.request.method).lower(), self.http_method_not_allowed)

    @property
    def asked(self) -> Asked:
        return _asked(self.request)


class GenerateView(AsyncAPIView):
    """A panel in one reply, whichever the format."""

    async def post(self, request: DrfRequest, **path: str) -> HttpResponse:
        asked, route = self.asked, self.asked.format_route
        chat = await asked.parsed()
        if isinstance(chat, NoPanel):
            await check_collection(asked.caller, chat.model)
            return _sent(chat.rendered)
        run = await open_panel(asked.request(chat))
        return _sent(asked.wire_format.render_reply(await run.result(), route))


class CountView(AsyncAPIView):
    """The size estimate of a request, by which it would be refused; no model is asked."""

    async def post(self, request: DrfRequest, **path: str) -> HttpResponse:
        asked = self.asked
        chat = await asked.parsed()
        await check_collection(asked.caller, chat.model)
        tokens = 0 if isinstance(chat, NoPanel) else estimate(chat.messages)
        return _json(asked.wire_format.render_count(tokens))


class FixedView(AsyncAPIView):
    """What a format's clients ask and always hear the same, such as a version."""

    async def get(self, request: DrfRequest) -> HttpResponse:
        return _json(self.asked.format_route.body)


class ModelsView(AsyncAPIView):
    """The collections, as the format lists models."""

    async def get(self, request: DrfRequest) -> HttpResponse:
        listed = await asyncio.wrap_future(ledger().run(partial(listed_collections, self.asked.caller)))
        return _json(self.asked.wire_format.render_models(listed))


class ModelView(AsyncAPIView):
    """One collection, as the format shows a model."""

    async def get(self, request: DrfRequest, model: str) -> HttpResponse:
        return await _shown(self.asked, model)


class NamedModelView(AsyncAPIView):
    """One collection, named in the body."""

    async def post(self, request: DrfRequest) -> HttpResponse:
        body = Fields(self.asked.payload)
        return await _shown(self.asked, body.text("model") or body.text("name"))


class CollectionsView(AsyncAPIView):
    """The collections that the caller may ask, in no format's words: what each is for, who sits, what they take together."""

    async def get(self, request: DrfRequest) -> HttpResponse:
        rows = await asyncio.wrap_future(ledger().run(partial(collections_to_ask, self.asked.caller)))
        return _json({"collections": rows})


class PanelView(AsyncAPIView):
    """A panel read back from the call log, as far as it is."""

    async def get(self, request: DrfRequest, panel: str) -> HttpResponse:
        read = partial(recorded_panel, self.asked.caller, panel, self.asked.base_url)
        return _json(await asyncio.wrap_future(ledger().run(read)))


def refusal(error: Exception, context: dict[str, Any]) -> Response | HttpResponse:
    """DRF's EXCEPTION_HANDLER: whatever went wrong, in the route's own format."""
    asked = _asked(context["request"])
    rendered = render_refusal(asked.wire_format, as_refusal(error), asked.route)
    return _json(rendered.body, status=rendered.status, headers=rendered.headers)


def _asked(request: DrfRequest) -> Asked:
    return asked_of(request._request.scope)  # type: ignore[attr-defined]


async def _shown(asked: Asked, model: str) -> HttpResponse:
    listed = await asyncio.wrap_future(ledger().run(partial(listed_collection, asked.caller, model)))
    return _json(asked.wire_format.render_model(listed))


def _sent(rendered: Rendered) -> HttpResponse:
    return _json(rendered.body, headers=rendered.headers)


def _json(body: Any, status: int = 200, headers: Any = None) -> HttpResponse:
    return HttpResponse(orjson.dumps(body), status=status, content_type="application/json", headers=headers)
