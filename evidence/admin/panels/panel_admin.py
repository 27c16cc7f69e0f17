"""Where the pages of panels are, and who may see them. What is on them is in the modules beside this one."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import URLPattern, path, reverse

from collections_app.admin.rows import ReadOnlyAdmin
from evidence.admin.panels.judging import judge
from evidence.admin.panels.listing import show_list, show_rows
from evidence.admin.panels.page import show_changed, show_panel, show_seat, show_text
from evidence.models import Panel
from evidence.selectors import panel_to_read, pk_of_panel

View = Callable[..., HttpResponse]


@admin.register(Panel)
class PanelAdmin(ReadOnlyAdmin):
    def get_urls(self) -> list[URLPattern]:
        seat = "<int:pk>/seat/<slug:key>/"
        pages = (
            ("rows/", "rows", self._looking(show_rows)),
            ("of/<str:panel_id>/", "of", self._looking(_to_panel)),
            ("<int:pk>/live/", "live", self._looking(_with_panel(show_changed))),
            ("<int:pk>/text/<slug:key>/<slug:name>/", "text", self._looking(_with_panel(show_text))),
            (seat, "seat", self._looking(_with_panel(show_seat))),
            (f"{seat}verdict/", "judge", self._judging(_with_panel(judge))),
        )
        named = [path(route, self.admin_site.admin_view(view), name=f"evidence_panel_{name}") for route, name, view in pages]
        return [*named, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # type: ignore[override]
        return self._looking(show_list)(request)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show one panel; there is no form to its row."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        known = self.get_object(request, object_id)
        if known is None:
            # Django's own answer for a row that is not there: a message and the way back.
            return super().change_view(request, object_id, form_url, extra_context)
        return self._looking(_with_panel(show_panel))(request, pk=known.pk)

    def _looking(self, view: View) -> View:
        def looked(request: HttpRequest, **named: Any) -> HttpResponse:
            if not self.has_view_permission(request):
                raise PermissionDenied
            if request.method not in ("GET", "HEAD"):
                return HttpResponseNotAllowed(("GET", "HEAD"))
            return view(self, request, **named)

        return looked

    def _judging(self, view: View) -> View:
        def judged(request: HttpRequest, **named: Any) -> HttpResponse:
            if not (self.has_view_permission(request) and request.user.has_perm("evidence.add_verdict")):
                raise PermissionDenied
            return view(self, request, **named) if request.method == "POST" else HttpResponseNotAllowed(("POST",))

        return judged


def _with_panel(view: View) -> View:
    """Give a view the panel to be read instead of its row's number."""

    def given(admin_of_panels: PanelAdmin, request: HttpRequest, *, pk: int, **named: Any) -> HttpResponse:
        panel = panel_to_read(pk)
        if panel is None:
            raise Http404
        return view(admin_of_panels, request, panel=panel, **named)

    return given


def _to_panel(admin_of_panels: PanelAdmin, request: HttpRequest, *, panel_id: str) -> HttpResponse:
    """A panel's address by its id, which callers have: on to its page."""
    pk = pk_of_panel(panel_id)
    if pk is None:
        raise Http404
    return HttpResponseRedirect(reverse("admin:evidence_panel_change", args=(pk,)))
