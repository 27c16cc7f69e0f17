"""/metrics: what this process has counted, and how it and its bench stand now, as Prometheus reads it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from benchsite.dashboard.local_login import is_local
from benchsite.observing.access import refusal_of
from benchsite.observing.scraped import registry_of_server


@csrf_exempt
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The numbers of a server."""
    return numbers(request, registry_of_server)


def numbers(request: HttpRequest, registry: Callable[[], CollectorRegistry]) -> HttpResponse:
    """A process's numbers, to whoever may read them."""
    address = request.META.get("REMOTE_ADDR", "")
    refusal = refusal_of(request.headers.get("Authorization", ""), address, local=is_local(request))
    if refusal:
        status, words = refusal
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        return HttpResponse(f"{words}\n", status=status, content_type="text/plain", headers=headers)
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry()), content_type=content_type)
