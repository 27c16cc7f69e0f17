"""Refusals by status: why, and the headers that come with them. Their bodies are each format's.

What HTTP itself refuses (a request that is none, or comes too slowly) is answered before any route is known, and not in here.
"""

from collections.abc import Mapping

from gateway.schema.shapes import Schema, text, whole
from gateway.wire.contract import Task

WHY: Mapping[int, str] = {
    400: "The request cannot be taken as it is: the message names the field and says what to send instead.",
    401: "No gateway key was sent, or one that is malformed, unknown, revoked or expired: the message says which.",
    403: "This key may not ask that; or the Host, or the page that sent this, is not one that is answered.",
    404: "Nothing is called that. Of a collection, the message lists those that the caller may ask.",
    406: "Accept names none of the media types of the reply.",
    413: "The body is over the server's cap, or the prompt over the known window of a member.",
    415: "The body is not JSON by its Content-Type, or is compressed.",
    422: "This Idempotency-Key came with another request in the last 24 hours.",
    429: "The key's requests of this minute are used up, or every seat was rate limited (then with `bench`, and no retry).",
    500: "The bench failed on this request; its log says why.",
    502: "Every seat was asked and none answered: `bench` says why of each. An SDK must not run the panel again.",
    503: "Nobody can be seated now, the queue is full, or the bench is stopping.",
    508: "A bench asked (X-Bench-Depth): a collection is never a seat of another.",
}
_ALL_ROUTES = (401, 403, 413, 500, 503)
_NAMES_A_COLLECTION = (400, 404, 415, 429)
BY_TASK: Mapping[Task, tuple[int, ...]] = {
    "generate": (*_ALL_ROUTES, *_NAMES_A_COLLECTION, 422, 502, 508),
    "count_tokens": (*_ALL_ROUTES, *_NAMES_A_COLLECTION),
    "list_models": _ALL_ROUTES,
    "show_model": (*_ALL_ROUTES, 400, 404),
    "fixed": _ALL_ROUTES,
    "watch": (*_ALL_ROUTES, 400, 404),
}

_RETRY_AFTER: Schema = {"description": "Seconds to wait.", "schema": whole(minimum=1)}
_NO_RETRY: Schema = {"description": "`false` when the seats were asked already.", "schema": text(enum=["false"])}
HEADERS: Mapping[int, Mapping[str, Schema]] = {
    401: {"WWW-Authenticate": {"required": True, "schema": text(enum=["Bearer"])}},
    429: {"Retry-After": _RETRY_AFTER, "x-should-retry": _NO_RETRY},
    502: {"x-should-retry": {**_NO_RETRY, "required": True}},
    503: {"Retry-After": _RETRY_AFTER},
}
IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same key and body within 24 hours join the running panel or repeat its reply, in the form asked for. "
    "Another body under it is a 422.",
    "schema": text("Empty: none.", maxLength=255),
    "example": "2f6b1c0e",
}
# Of a request that asks nobody, and is Ollama's way to load a model, it is not read.
UNREAD_IDEMPOTENCY_KEY: Schema = {**IDEMPOTENCY_KEY, "schema": text("Empty: none. At most 255 characters.")}
