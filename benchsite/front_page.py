"""The bare address: a person is taken to the dashboard, and a client of Ollama, which asks there, hears that it runs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers


@require_safe
@vary_on_headers("Accept")
def front_page(request: HttpRequest) -> HttpResponse:
    """Only a browser names HTML; `*/*`, which a program sends, is not taken for one."""
    if "text/html" in request.headers.get("Accept", ""):
        return redirect("admin:index")
    return HttpResponse("Ollama is running", content_type="text/plain")
