"""The page on which models are tried: sent as the trial goes, a line for each model when it ends. Needs no script."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from threading import Event
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpRequest, StreamingHttpResponse
from django.template.loader import render_to_string

from collections_app.catalog.onboarding.trying import Tried, trial
from collections_app.models import LanguageModel

# Where the lines stand in the page.
LINES = "<!-- lines -->"
COLOURS = {"answered": "good", "failed": "bad", "not tried": "warn"}


def trial_page(request: HttpRequest, context: Mapping[str, Any], models: Sequence[LanguageModel]) -> StreamingHttpResponse:
    """Try `models` while the page is sent. Whoever closes it in between ends the trial; what was added stays."""
    page = render_to_string("collections_app/adding/trial.html", dict(context), request)
    begun, _, ended = page.partition(LINES)
    response = StreamingHttpResponse(_pieces(begun, ended, models), content_type="text/html; charset=utf-8")
    # A proxy that collects the page would keep what is told as it comes.
    response["X-Accel-Buffering"] = "no"
    response["Cache-Control"] = "private, no-store, no-transform"
    return response


async def _pieces(begun: str, ended: str, models: Sequence[LanguageModel]) -> AsyncIterator[str]:
    yield begun
    left = Event()
    outcomes = trial()(models, left)
    try:
        while (tried := await sync_to_async(_next)(outcomes)) is not None:
            yield _line(tried)
    finally:
        left.set()
    yield ended


def _next(outcomes: Iterator[Tried]) -> Tried | None:
    # A trial takes minutes: no connection is held meanwhile that others might wait for.
    if not connection.in_atomic_block:
        connection.close()
    return next(outcomes, None)


def _line(tried: Tried) -> str:
    return render_to_string("collections_app/adding/tried.html", {"tried": tried, "colour": COLOURS[tried.outcome]})
