"""Catalog sources: when each was last asked, what came of it, and a button that asks it now.

What a source says is shown as text that nobody vouches for.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from collections_app.admin.knowledge.shown import ShownAdmin
from collections_app.catalog.background import background_refresh
from collections_app.catalog.refreshing.own_listing import lists
from collections_app.catalog.refreshing.places import PLACES
from collections_app.catalog.refreshing.served import own_source
from collections_app.models import CatalogSource, Endpoint, Fact

EVERY = "all"
# What a source's error says when a listing is half of what it was.
SHRUNKEN = "--accept-shrunken"


@dataclass(frozen=True, slots=True)
class Shown:
    """One source: its name, what people call it, its endpoint if it is one's listing, and its row once it was asked."""

    name: str
    title: str
    endpoint: Endpoint | None
    row: CatalogSource | None
    not_asked: str = ""

    @property
    def shrunken(self) -> bool:
        return self.row is not None and SHRUNKEN in self.row.error


@admin.register(CatalogSource)
class CatalogSourceAdmin(ShownAdmin):
    title = "Catalog sources"
    template = "collections_app/knowledge/sources.html"

    def shown(self, request: HttpRequest) -> dict[str, Any]:
        sources = _sources()
        chosen = next((source for source in sources if source.name == request.GET.get("source")), None)
        return {"sources": sources, "chosen": chosen, "progress": background_refresh().progress}

    def done(self, request: HttpRequest, target: str, deed: str) -> HttpResponse:
        """Have one source, or all, asked now; in a thread, since some take a minute."""
        if target != EVERY and target not in {source.name for source in _sources()}:
            raise Http404
        names = [] if target == EVERY else [target]
        if background_refresh().start(names, accept_shrunken=deed == "accept"):
            messages.success(
                request, f"Asking {names[0] if names else 'every source'} now. Load this page again to see what came."
            )
        else:
            messages.warning(request, "A refresh is under way: wait for its end.")
        return redirect(reverse("admin:collections_app_catalogsource_changelist"))


def _sources() -> list[Shown]:
    """Every source there is to ask, asked or not: two queries."""
    rows = {row.name: row for row in CatalogSource.objects.all()}
    public = [Shown(place.name, Fact.SOURCE_NAMES[place.name], None, rows.get(place.name)) for place in PLACES]
    not_asked = background_refresh().not_asked
    own = [(own_source(endpoint), endpoint) for endpoint in Endpoint.objects.all() if lists(endpoint)]
    return public + [
        Shown(name, f"{endpoint}'s own listing", endpoint, rows.get(name), not_asked.get(name, "")) for name, endpoint in own
    ]
