"""Rows that the bench itself writes: a page that shows them all, and buttons; nobody adds, edits or deletes one by hand."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin


class ShownAdmin(ModelAdmin):
    """`title` and `template` are the page's; `deed` is what a button asks for, by POST."""

    title = ""
    template = ""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        guarded, name = self.admin_site.admin_view, f"collections_app_{self.opts.model_name}"
        return [
            path("", guarded(self.changelist_view), name=f"{name}_changelist"),
            path("<str:target>/<str:deed>/", guarded(self.act), name=f"{name}_act"),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": self.title,
            "content_title": self.title,
            "is_fullwidth": "1",
            "may_act": self.has_change_permission(request),
            **self.shown(request),
        }
        return TemplateResponse(request, self.template, context)

    @method_decorator(require_POST)
    def act(self, request: HttpRequest, target: str, deed: str) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        return self.done(request, target, deed)

    def shown(self, request: HttpRequest) -> dict[str, Any]:
        """What the page's template is given."""
        raise NotImplementedError

    def done(self, request: HttpRequest, target: str, deed: str) -> HttpResponse:
        """Do it, and lead back. Raises Http404 for what is not there."""
        raise NotImplementedError


def page_of(rows: Any, request: HttpRequest, size: int) -> Page[Any]:
    """The page that a query asks for; the first or the last for one that is not there."""
    return Paginator(rows, size).get_page(request.GET.get("page", "1")[:9])
