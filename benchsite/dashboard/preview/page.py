"""The pages of a preview: a collection's own, with its recent panels, and the part of its form that follows what is chosen."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import path
from django.views.decorators.http import require_safe

from benchsite.dashboard.preview.outlook import Asked, looked_at, outlook
from collections_app.admin.seats import advice_on
from collections_app.models import Collection, LanguageModel
from collections_app.roster import roster_keeper
from collections_app.selectors import know, members_of
from evidence.models import Panel
from evidence.selectors import panels_listed

app_name = "preview"
MOST_MEMBERS = 40
MOST_IN_QUEUE = 30
MOST_IN_GROUP = 40
MOST_PANELS = 8
EXCERPT = 160


class AskedForm(forms.Form):
    """What the next request is taken to be; whatever is not sent, or is nonsense, is as usual."""

    shape = forms.CharField(required=False)
    images = forms.BooleanField(required=False)
    tokens = forms.IntegerField(required=False, min_value=0, max_value=2**53)

    def asked(self) -> Asked:
        self.is_valid()
        sent = self.cleaned_data
        return Asked(shape=sent.get("shape", ""), images=sent.get("images", False), tokens=sent.get("tokens") or 0)


@require_safe
def preview_page(request: HttpRequest, pk: int) -> HttpResponse:
    _may_look(request)
    collection = get_object_or_404(Collection.objects.select_related("shape").prefetch_related("memberships"), pk=pk)
    may_read = request.user.has_perm("evidence.view_panel")
    context = {
        **admin.site.each_context(request),
        "opts": Collection._meta,
        "original": collection,
        "collection": collection,
        "title": f"Who would sit on {collection.asked_as}",
        "may_read_panels": may_read,
        "panels": _panels(collection) if may_read else (),
        **_looked(collection, members_of(collection), AskedForm(request.GET).asked()),
    }
    return TemplateResponse(request, "benchsite/preview/page.html", context)


@require_safe
def preview_of_form(request: HttpRequest) -> HttpResponse:
    """What a form would make, with members and a shape that nobody has saved."""
    _may_look(request)
    chosen = [int(pk) for pk in request.GET.getlist("member")[:MOST_MEMBERS] if pk.isdecimal() and len(pk) < 19]
    rows = LanguageModel.objects.select_related("endpoint").in_bulk(chosen)
    shape = request.GET.get("shape", "")
    roster = roster_keeper().current()
    collection = Collection(shape=next((row for row in roster.shapes.values() if str(row.pk) == shape), None))
    members = [rows[pk] for pk in dict.fromkeys(chosen) if pk in rows]
    return TemplateResponse(request, "benchsite/preview/in_form.html", _looked(collection, members, Asked()))


def _panels(collection: Collection) -> QuerySet[Panel]:
    """Its latest, with what was asked: for those who may read panels."""
    of_it = panels_listed().filter(collection=collection)
    return of_it.annotate(excerpt=Substr("request", 1, EXCERPT))[:MOST_PANELS]


def _looked(collection: Collection, members: Sequence[LanguageModel], asked: Asked) -> dict[str, Any]:
    know(members)
    roster = roster_keeper().current()
    return {
        "asked": asked,
        "shapes": looked_at(roster),
        "outlook": outlook(collection, members, asked, roster),
        "most_in_queue": MOST_IN_QUEUE,
        "most_in_group": MOST_IN_GROUP,
        **advice_on(members, roster.limits, collection.shape),
    }


def _may_look(request: HttpRequest) -> None:
    if not request.user.has_perm("collections_app.view_collection"):
        raise PermissionDenied


urlpatterns = [
    path("members/", admin.site.admin_view(preview_of_form), name="form"),
    path("<int:pk>/", admin.site.admin_view(preview_page), name="collection"),
]
