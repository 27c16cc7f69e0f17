"""Onboarding: keys that were found, servers of this machine, every other provider; then models chosen, added and tried.

Shows the names of variables, and never what they hold.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters

from collections_app.admin.adding.forms import PortsForm, ProviderForm
from collections_app.admin.adding.trial_page import trial_page
from collections_app.catalog.onboarding.adding import CannotAddError, add_models, endpoint_at, endpoint_for
from collections_app.catalog.onboarding.candidates import Candidate
from collections_app.catalog.onboarding.offers import key_found, keys_found, offers, providers
from collections_app.catalog.onboarding.probe_local import probe
from collections_app.catalog.onboarding.serving import list_models, served_at
from collections_app.catalog.providers import Provider
from collections_app.models import Endpoint
from collections_app.secret_file import SecretFileError
from collections_app.services.provider_keys import store_key

NAME = "collections_app_onboarding"
MAY = ("collections_app.add_endpoint", "collections_app.add_languagemodel")
MOST_SHOWN = 100
View = Callable[..., HttpResponseBase]


class OnboardingPages:
    """The pages of one admin site."""

    def __init__(self, site: AdminSite) -> None:
        self._site = site

    @property
    def urls(self) -> list[URLPattern]:
        pages: tuple[tuple[str, str, View], ...] = (
            ("onboarding/", NAME, self.overview),
            ("onboarding/look/", f"{NAME}_look", self.look),
            ("onboarding/provider/<str:name>/", f"{NAME}_provider", self.provider),
            ("onboarding/endpoint/<str:name>/", f"{NAME}_endpoint", self.endpoint),
        )
        return [path(route, self._site.admin_view(_for_who_may(view)), name=name) for route, name, view in pages]

    def overview(self, request: HttpRequest) -> HttpResponseBase:
        """Whom to begin with: providers whose keys are here, this machine's servers, and all others."""
        offered = offers()
        found = key_found(offered)
        words = _words(request)
        others = [offer for offer in offered if offer not in found and _says(words, offer.provider.id, offer.provider.name)]
        return self._page(request, "overview", "Onboarding", {"found": found, "others": others, "form": PortsForm()})

    def look(self, request: HttpRequest) -> HttpResponseBase:
        """Look at ports of this machine, since somebody asks for it. What is ticked of what was found is added."""
        if request.method != "POST":
            return redirect(f"admin:{NAME}")
        form = PortsForm(request.POST)
        if not form.is_valid():
            return self._page(request, "look", "Servers of this machine", {"form": form})
        chosen = set(request.POST.getlist("add"))
        servers = [server for server in probe(form.cleaned_data["ports"]) if not chosen or str(server.port) in chosen]
        if chosen:
            return self._add_servers(request, servers)
        here = {endpoint.base_url.rstrip("/"): endpoint for endpoint in Endpoint.objects.all()}
        found = [(server, here.get(server.base_url)) for server in servers]
        return self._page(request, "look", "Servers of this machine", {"form": form, "servers": found, "looked": True})

    @method_decorator(sensitive_post_parameters("key"))
    def provider(self, request: HttpRequest, name: str) -> HttpResponseBase:
        """Add a provider's endpoint: with what its URL needs, and its key where the environment has none."""
        provider = providers().get(name)
        if provider is None:
            raise Http404
        keys = keys_found(provider)
        form = ProviderForm(provider, keys, request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                endpoint = _made(provider, form.url_fields, form.cleaned_data.get("key", ""))
            except (CannotAddError, SecretFileError) as error:
                form.add_error(None, str(error))
            else:
                _list(request, endpoint)
                return redirect(f"admin:{NAME}_endpoint", endpoint.name)
        context = {"provider": provider, "form": form, "keys": keys, "key_name": next(iter(provider.key_env), "")}
        return self._page(request, "provider", f"Onboard {provider.name}", context)

    def endpoint(self, request: HttpRequest, name: str) -> HttpResponseBase:
        """Choose models of an endpoint; posted, they are added and tried, or its list is asked for once more."""
        endpoint = get_object_or_404(Endpoint, name=name)
        if request.method == "POST" and "list" in request.POST:
            _list(request, endpoint)
            return redirect(request.get_full_path())
        serving = served_at(endpoint)
        if request.method == "POST":
            return self._add_and_try(request, endpoint, serving.choices)
        words = _words(request)
        choices = [one for one in serving.choices if _says(words, one.candidate.served_id, one.candidate.name)]
        context = {
            "endpoint": endpoint,
            "serving": serving,
            "choices": choices[:MOST_SHOWN],
            "more": max(0, len(choices) - MOST_SHOWN),
            "tick_free": "free" in request.GET,
        }
        return self._page(request, "endpoint", f"Models at {endpoint.name}", context)

    def _add_servers(self, request: HttpRequest, servers: list[Any]) -> HttpResponseBase:
        endpoints = []
        for server in servers:
            try:
                endpoints.append(endpoint_at(server))
            except CannotAddError as error:
                messages.error(request, str(error))
        for endpoint in endpoints:
            _list(request, endpoint)
        if len(endpoints) == 1:
            return redirect(f"admin:{NAME}_endpoint", endpoints[0].name)
        return redirect(f"admin:{NAME}")

    def _add_and_try(self, request: HttpRequest, endpoint: Endpoint, choices: Any) -> HttpResponseBase:
        ids = set(request.POST.getlist("model"))
        chosen = [one.candidate for one in choices if one.candidate.served_id in ids]
        typed = request.POST.get("typed", "").strip()
        if typed:
            chosen.append(Candidate(endpoint.name, typed))
        added = add_models(endpoint, chosen)
        for why in added.refused:
            messages.error(request, f"Not added: {why}")
        if not added.with_here:
            if not chosen:
                messages.warning(request, "Nothing was chosen: tick the models to be added and tried.")
            return redirect(request.get_full_path())
        context = {"endpoint": endpoint, "added": len(added.models)}
        return trial_page(request, self._context(request, f"Trying models at {endpoint.name}", context), added.with_here)

    def _page(self, request: HttpRequest, template: str, title: str, context: Mapping[str, Any]) -> TemplateResponse:
        shown = self._context(request, title, {"text": _text(request), **context})
        return TemplateResponse(request, f"collections_app/adding/{template}.html", shown)

    def _context(self, request: HttpRequest, title: str, context: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **self._site.each_context(request),
            "title": title,
            "content_title": title,
            "is_fullwidth": "1",
            **context,
        }


def _for_who_may(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perms(MAY):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


def _made(provider: Provider, fields: Mapping[str, str], key: str) -> Endpoint:
    """The provider's endpoint, with the key that was typed in for it. Raises CannotAddError and SecretFileError."""
    endpoint = endpoint_for(provider, fields)
    if key:
        store_key(endpoint, key)
    return endpoint


def _list(request: HttpRequest, endpoint: Endpoint) -> None:
    if why := list_models(endpoint):
        messages.warning(request, f"{endpoint.name} could not be asked for its models: {why}.")


def _text(request: HttpRequest) -> str:
    return request.GET.get("text", "")[:100]


def _words(request: HttpRequest) -> list[str]:
    return _text(request).lower().split()


def _says(words: list[str], *texts: str) -> bool:
    text = " ".join(texts).lower()
    return all(word in text for word in words)
