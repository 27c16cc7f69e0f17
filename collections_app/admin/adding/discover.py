"""Discover: the catalogs' models as one list, free first, each added to the bench by one click or led to its onboarding."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from collections_app.admin.adding.forms import WantedForm
from collections_app.admin.adding.onboarding import OnboardingPages
from collections_app.admin.rows import ReadOnlyAdmin
from collections_app.catalog.discover import Found, Line, Wanted, discover
from collections_app.catalog.onboarding.adding import add_models
from collections_app.catalog.onboarding.candidates import CATALOGS, Candidate, candidates
from collections_app.catalog.onboarding.offers import NEVER_OFFERED, providers
from collections_app.catalog.refreshing.served import provider_id
from collections_app.models import CatalogEntry, CatalogSource, Endpoint, Fact, LanguageModel

NAME = "collections_app_discover"


@admin.register(CatalogEntry)
class DiscoverAdmin(ReadOnlyAdmin):
    def get_urls(self) -> list[Any]:
        guarded = self.admin_site.admin_view
        return [
            path("", guarded(self.changelist_view), name="collections_app_catalogentry_changelist"),
            path("discover/", guarded(self.discover), name=NAME),
            path("discover/add/", guarded(self.add_model), name=f"{NAME}_add"),
            *OnboardingPages(self.admin_site).urls,
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect(f"admin:{NAME}")

    def discover(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        wanted = wanted_in(request.GET)
        found = discover(wanted)
        context = {
            **self.admin_site.each_context(request),
            "title": "Discover",
            "content_title": "Discover",
            "is_fullwidth": "1",
            "form": WantedForm(request.GET, found.providers),
            "found": found,
            "lines": [_shown(line) for line in found.lines],
            "filtered": wanted != Wanted(page=wanted.page),
            "pages": _pages(request.GET, found),
            "query": request.GET.urlencode(),
            "sources": CatalogSource.objects.filter(name__in=CATALOGS),
            "may_add": request.user.has_perm("collections_app.add_languagemodel"),
        }
        return TemplateResponse(request, "collections_app/adding/discover.html", context)

    def add_model(self, request: HttpRequest) -> HttpResponse:
        """Add one model to one endpoint of its provider, as proposed; then back to the list as it was."""
        back = QueryDict(request.POST.get("query", "")[:2000]).urlencode()
        if request.method == "POST":
            if not request.user.has_perm("collections_app.add_languagemodel"):
                raise PermissionDenied
            one = _candidate(request.POST)
            endpoint = Endpoint.objects.filter(name=request.POST.get("endpoint", "")).first()
            if endpoint and provider_id(endpoint) == one.provider:
                _add(request, endpoint, one)
            else:
                messages.error(request, f"There is no such endpoint of {one.provider} any more: onboard the provider first.")
        return HttpResponseRedirect(f"{reverse(f'admin:{NAME}')}?{back}")


def wanted_in(asked: QueryDict) -> Wanted:
    """What a query asks for; a field that cannot be read is as if it were not there."""
    # Any provider may be asked for: of one that nothing is known of nothing is found.
    form = WantedForm(asked, {asked.get("provider", ""): 0})
    form.is_valid()
    return Wanted(**{name: value for name, value in form.cleaned_data.items() if value})


def _candidate(posted: Mapping[str, Any]) -> Candidate:
    """The model that a form names. Raises Http404 for one that no catalog lists."""
    key = {name: str(posted.get(name, ""))[:300] for name in ("provider", "served_id")}
    found = candidates(**key)
    if not found or key["provider"] in NEVER_OFFERED:
        raise Http404
    return found[0]


def _add(request: HttpRequest, endpoint: Endpoint, one: Candidate) -> None:
    added = add_models(endpoint, [one])
    for model in added.models:
        messages.success(request, format_html("{} {}", _told(model, endpoint), _links(model, endpoint)))
    for model in added.with_here if not added.models else ():
        messages.info(request, f"It is on the bench already, as {model.alias}.")
    for why in added.refused:
        messages.error(request, f"It cannot be added: {why}")


def _told(model: LanguageModel, endpoint: Endpoint) -> str:
    window = model.known.get("context_window")
    told = f"a window of {window:,} tokens" if window else "an unknown window"
    return f"{model.alias} was added at {endpoint.name}, as {model.role}, with {told}."


def _links(model: LanguageModel, endpoint: Endpoint) -> SafeString:
    return format_html(
        '<a class="bench-link" href="{}">Try it</a> · <a class="bench-link" href="{}">Change it</a>',
        f"{reverse('admin:collections_app_onboarding_endpoint', args=[endpoint.name])}?{urlencode({'text': model.served_id})}",
        reverse("admin:collections_app_languagemodel_change", args=[model.pk]),
    )


def _shown(line: Line) -> dict[str, Any]:
    one = line.candidate
    known = providers().get(one.provider)
    return {
        "one": one,
        "reach": line.reach,
        "here": line.here,
        "elsewhere": line.elsewhere,
        "provider": known.name if known else one.provider,
        "can_onboard": known is not None,
        "sources": ", ".join(Fact.SOURCE_NAMES[source] for source in one.sources),
    }


def _pages(asked: QueryDict, found: Found) -> list[tuple[str, str]]:
    """Links to other pages: what they are called, and their query; without one for the page that is shown, and for a gap."""
    numbers = sorted({1, found.pages, *range(max(1, found.page - 2), min(found.pages, found.page + 2) + 1)})
    links: list[tuple[str, str]] = []
    for before, number in zip([0, *numbers], numbers, strict=False):
        if number - before > 1:
            links.append(("…", ""))
        query = asked.copy()
        query["page"] = str(number)
        links.append((str(number), "" if number == found.page else query.urlencode()))
    return links if found.pages > 1 else []
