"""/metrics of a worker, which serves nothing else: on BENCH_BIND and a port of its own, to whom a server shows them too."""

import socket
import threading
from collections.abc import Iterable
from socketserver import ThreadingMixIn
from typing import Any
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse

from benchsite.checks import is_loopback
from benchsite.observing.access import token_is_asked_for
from benchsite.observing.metrics import numbers
from benchsite.observing.scraped import registry_of_worker

METRICS = "/metrics"


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    # Seconds for which a caller may be silent.
    timeout = 5

    def log_message(self, *_: Any) -> None:
        """Not written down: a scrape every few seconds says nothing, and its words are the caller's."""


def serve_metrics() -> None:
    """Serve them from now on, where a port is set. Raises OSError for one that is taken."""
    if not settings.BENCH_METRICS_PORT:
        return
    bind = settings.BENCH_BIND
    server = make_server(bind, settings.BENCH_METRICS_PORT, _app, _Server6 if ":" in bind else _Server, _Handler)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()


def _app(environment: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    response = _answer(WSGIRequest(environment))
    start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
    return [response.content]


def _answer(request: WSGIRequest) -> HttpResponse:
    if request.path != METRICS or request.method != "GET":
        return HttpResponse("GET /metrics is all there is.\n", status=404, content_type="text/plain")
    if not token_is_asked_for() and not is_loopback(urlsplit(f"//{request.get_host()}").hostname or ""):
        # As the gateway's edge: a page elsewhere may have had its own name lead here.
        return HttpResponse("This name is not answered.\n", status=403, content_type="text/plain")
    return numbers(request, registry_of_worker)
