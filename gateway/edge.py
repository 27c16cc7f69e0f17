"""The gateway's outermost ASGI app: what every request must pass before anything reads it.

Host, origin, route, method, key, body cap, content type, JSON parsed once. Refusals are in the route's own format. Requests
that are not the gateway's go on to the site.
"""

import asyncio
import gc
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import orjson
from django.urls import Resolver404, ResolverMatch, resolve

from gateway.asked import (
    EDGE_KEY,
    LARGE_BODY_BYTES,
    SCOPE_KEY,
    TRUSTED_PROXY_KEY,
    App,
    Asked,
    Event,
    Receive,
    Scope,
    Send,
    raw_headers,
)
from gateway.conf import conf
from gateway.errors import BadRequest, LoopRefused, MethodRefused, NotFound, NotJson, TooLarge, as_refusal
from gateway.mcp import refusals
from gateway.origins import (
    allowed_origin,
    is_preflight,
    preflight_answer,
    readable_by,
    refuse_a_proxy,
    refuse_foreign_host,
    refuse_foreign_page,
)
from gateway.redact import quoted
from gateway.telemetry.spans import trace_of
from gateway.wire import FORMATS, RenderedRefusal, format_of_path, listing_format, render_refusal, takes_key_in_query
from gateway.wire.contract import Route, WireFormat
from gateway.workers.ledger import ledger
from keys.services import LOCAL, Caller, admit, keys_are_required, sent_key

URLCONF = "gateway.urls"
# The path of the protocol that agents call tools by; its clients read refusals in a shape of their own.
AGENTS = "mcp"
# Bytes of bodies after which cycles are looked for: the collector goes by numbers of objects, of which a body is one.
COLLECT_AFTER = 32 << 20
# First parts of paths that are the gateway's, known route or not: an unknown one gets JSON, not the site's page.
PREFIXES = frozenset({"bench", AGENTS, *(route.path.partition("/")[0] for one in FORMATS.values() for route in one.ROUTES)})


class Edge:
    """`live` takes WebSockets, of which only handshakes of the dashboard's own pages get this far (benchsite/http)."""

    def __init__(self, *, json_app: App, stream_app: App, site: App, live: App) -> None:
        self._json_app = json_app
        self._stream_app = stream_app
        self._site = site
        self._live = live
        self._uncollected = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return await self._live(scope, receive, send)
        headers = _headers_of(scope)
        wire_format, route = format_of_path(scope["path"].lstrip("/")), None
        first = scope["path"].lstrip("/").split("/", 1)[0]
        mine = first in PREFIXES
        origin = allowed_origin(headers) if mine else None
        try:
            refuse_foreign_host(headers)
            if origin is None:
                refuse_foreign_page(headers, navigation_allowed=not mine and scope["method"] in ("GET", "HEAD"))
            app = self._site
            if mine:
                send = readable_by(origin, send)
                if origin and is_preflight(scope["method"], headers):
                    return await _answer_preflight(headers, send)
                match = _resolve(scope["path"], scope["query_string"])
                wire_format, route = _format_of(match, headers, wire_format), match.kwargs.get("route")
                app, scope, receive = await self._admit(match, wire_format, headers, scope, receive)
        except Exception as error:  # noqa: BLE001
            # The edge's boundary: whatever is wrong in here is a refusal to the caller, and a traceback to the log alone.
            words = refusals if first == AGENTS else wire_format
            return await _refuse(render_refusal(words, as_refusal(error), route), scope, send)
        await app(scope, receive, send)

    async def _admit(
        self, match: ResolverMatch, wire_format: WireFormat, headers: Mapping[str, str], scope: Scope, receive: Receive
    ) -> tuple[App, Scope, Receive]:
        """Check a gateway request and return whose it is, with what was learned of it in its scope."""
        _refuse_method(match, scope["method"])
        query = scope["query_string"] if takes_key_in_query(wire_format) else b""
        caller = await _caller(headers, query, trusted_proxy=TRUSTED_PROXY_KEY in scope)
        route = match.kwargs.get("route")
        body = await _read_body(headers, receive)
        self._collect(len(body))
        asked = Asked(
            view=match.func,
            wire_format=wire_format,
            route=route,
            path={name: value for name, value in match.kwargs.items() if name not in ("wire_format", "route")},
            caller=caller,
            base_url=conf.public_url or f"{scope.get('scheme', 'http')}://{headers['host']}",
            body=body,
            payload=await _parse(body, headers) if scope["method"] == "POST" else None,
            idempotency_key=headers.get("idempotency-key", ""),
            is_retry=_is_above_0(headers.get("x-stainless-retry-count", "")),
            trace=trace_of(headers),
        )
        _refuse_a_bench_asking(route, headers)
        app = self._stream_app if _streams(asked) else self._json_app
        return app, {**scope, SCOPE_KEY: asked, EDGE_KEY: self}, _replay(receive)

    def _collect(self, came: int) -> None:
        """Have what large requests left in cycles of the libraries' go, before too many of them wait for it."""
        self._uncollected += came
        if self._uncollected >= COLLECT_AFTER:
            self._uncollected = 0
            gc.collect()


async def _caller(headers: Mapping[str, str], query: bytes, *, trusted_proxy: bool) -> Caller:
    """Who sends this request. Raises a KeyRefused where keys are asked for; where none are, whatever was sent is ignored.

    Raises ProxyRefused for a request from elsewhere where only this machine's are answered.
    """
    if not keys_are_required():
        refuse_a_proxy(headers, trusted=trusted_proxy)
        return LOCAL
    in_query = parse_qs(query.decode("latin-1")).get("key", [None])[0]
    return await asyncio.wrap_future(ledger().run(partial(admit, sent_key(headers, in_query))))


def _format_of(match: ResolverMatch, headers: Mapping[str, str], by_path: WireFormat) -> WireFormat:
    """The route's format. Three formats list models under one path, and their SDKs are told apart by their headers."""
    route: Route | None = match.kwargs.get("route")
    if route and route.task in ("list_models", "show_model"):
        return listing_format(headers, match.kwargs["wire_format"])
    return match.kwargs.get("wire_format") or by_path


def _is_above_0(count: str) -> bool:
    return count.isascii() and count.isdigit() and int(count[:9]) > 0


def _refuse_a_bench_asking(route: Route | None, headers: Mapping[str, str]) -> None:
    """A collection is never a seat of another: two benches that asked each other would never end."""
    if route and route.task == "generate" and "x-bench-depth" in headers:
        raise LoopRefused("A bench asked this bench (X-Bench-Depth): a collection is never a seat of another.")


def _headers_of(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name. Of one that came twice the first counts; two Hosts are none that is answered to."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1"), value.decode("latin-1"))
    if sum(name == b"host" for name, _ in scope["headers"]) > 1:
        del headers["host"]
    return headers


def _resolve(path: str, query: bytes) -> ResolverMatch:
    try:
        match = resolve(path, URLCONF)
    except Resolver404:
        raise NotFound(f"There is no route {quoted(path)}. GET /v1/models lists what can be asked.") from None
    route: Route | None = match.kwargs.get("route")
    if route and route.query:
        asked = parse_qs(query.decode("latin-1")).get(route.query, [""])
        match.kwargs["route"] = replace(route, variant=asked[-1])
    return match


def _refuse_method(match: ResolverMatch, method: str) -> None:
    view = match.func.view_class  # type: ignore[attr-defined]
    allowed = [name.upper() for name in view.http_method_names if name != "options" and hasattr(view, name)]
    if "GET" in allowed:
        allowed.append("HEAD")
    if method not in allowed:
        raise MethodRefused(
            f"{method} is no method of this route; send {' or '.join(allowed)}.", headers={"Allow": ", ".join(allowed)}
        )


async def _read_body(headers: Mapping[str, str], receive: Receive) -> bytes:
    """Read the whole body. One over the cap is drained first: a caller still sending would see a reset, not the 413."""
    chunks: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadRequest("The caller left before its body had come.")
        size += len(message.get("body", b""))
        if size <= conf.max_body_bytes:
            chunks.append(message.get("body", b""))
        more = message.get("more_body", False)
    if size > conf.max_body_bytes:
        raise TooLarge(
            f"The body is too long: {conf.max_body_bytes:,} bytes is the most. "
            "Send images as https:// URLs or smaller ones, or shorten the prompt."
        )
    return b"".join(chunks)


async def _parse(body: bytes, headers: Mapping[str, str]) -> Any:
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise NotJson("Send the body as JSON, with Content-Type: application/json.")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise NotJson("Send the body as it is, without Content-Encoding: compressed ones are not unpacked.")
    try:
        return await asyncio.to_thread(orjson.loads, body) if len(body) > LARGE_BODY_BYTES else orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # orjson's message quotes nothing of the body but its position.
        raise BadRequest(f"The body is not valid JSON: {error}.") from None


def _streams(asked: Asked) -> bool:
    """Whether a request gets a stream. A `stream` of a wrong type is refused where the body is read."""
    when = asked.route.streams if asked.route else "never"
    wanted = asked.payload.get("stream") if isinstance(asked.payload, dict) else None
    return when == "always" or (when == "when_asked" and wanted is True) or (when == "unless_refused" and wanted is not False)


def _replay(receive: Receive) -> Receive:
    """A receive that says at once that the body has come, then what really comes."""
    pending: list[Event] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def replayed() -> Event:
        return pending.pop() if pending else await receive()

    return replayed


async def _refuse(rendered: RenderedRefusal, scope: Scope, send: Send) -> None:
    body = b"" if scope["method"] == "HEAD" else orjson.dumps(rendered.body)
    await send(
        {
            "type": "http.response.start",
            "status": rendered.status,
            "headers": [
                (b"Content-Type", b"application/json"),
                (b"Content-Length", str(len(body)).encode()),
                *raw_headers(rendered.headers),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def _answer_preflight(headers: Mapping[str, str], send: Send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": preflight_answer(headers)})
    await send({"type": "http.response.body", "body": b""})
