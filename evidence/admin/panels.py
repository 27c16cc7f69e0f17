"""Gateway: the latest panels with a chip a seat, and one panel with every answer in full.

Everything shown is untrusted text: templates escape it, `visible` spells out what would hide or reorder it.
"""

import re
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.html import format_html
from unfold.admin import ModelAdmin

from evidence.admin.filters import FormatFilter, ShapeFilter, StatusFilter
from evidence.models import Call, Panel
from evidence.selectors import panel_with_calls, panels_listed, verdict_counts
from evidence.templatetags.untrusted import visible

# A panel's id, or one of its calls'.
CALL_ID = re.compile(r"(p\d{8}-\d{6}-[0-9a-f]{4})(?:\.\w+)?")
EXCERPT = 120
# SQLite refuses a LIKE pattern of 50,000 bytes.
LONGEST_SEARCH = 500


@admin.register(Panel)
class PanelAdmin(ModelAdmin):
    list_display = ("panel", "asked", "collection_asked", "seats", "took", "verdicts")
    list_display_links = None
    list_filter = (StatusFilter, "collection", ShapeFilter, FormatFilter)
    list_per_page = 50
    list_fullwidth = True
    search_fields = ("panel_id",)
    search_help_text = "A panel's or call's id, or words of a request, an answer or an error."
    show_full_result_count = False
    actions = None

    class Media:
        css = {"all": ["evidence/panels.css"]}

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Panel]:
        return panels_listed().annotate(excerpt=Substr("request", 1, EXCERPT))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Panel], search_term: str
    ) -> tuple[QuerySet[Panel], bool]:
        term = search_term.strip()[:LONGEST_SEARCH]
        if not term:
            return queryset, False
        if found := CALL_ID.fullmatch(term):
            return queryset.filter(panel_id=found[1]), False
        calls = Call.objects.filter(panel=OuterRef("pk")).filter(
            Q(answer__icontains=term) | Q(error__icontains=term) | Q(alias__icontains=term)
        )
        return queryset.filter(Q(panel_id__icontains=term) | Q(request__icontains=term) | Exists(calls)), False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show one panel; there is no form to it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        known = self.get_object(request, object_id)
        panel = panel_with_calls(known.panel_id) if known else None
        if panel is None:
            # Django's own answer for a row that is not there: a message and the way back.
            return super().change_view(request, object_id, form_url, extra_context)
        context = {
            **self.admin_site.each_context(request),
            "title": panel.panel_id,
            "opts": self.opts,
            "media": self.media,
            "panel": panel,
            "counts": verdict_counts(panel),
            "seconds": panel.seconds,
        }
        return TemplateResponse(request, "evidence/panel.html", context)

    @admin.display(description="panel", ordering="panel_id")
    def panel(self, panel: Panel) -> str:
        return render_to_string("evidence/list_panel.html", {"panel": panel, "opts": self.opts})

    @admin.display(description="asked at (UTC), by", ordering="asked_at")
    def asked(self, panel: Panel) -> str:
        return _two_lines(f"{panel.asked_at:%Y-%m-%d %H:%M:%S}", visible(panel.asked_by))

    @admin.display(description="collection, shape")
    def collection_asked(self, panel: Panel) -> str:
        merged = " (merged)" if panel.reply == "merged" else ""
        return _two_lines(visible(panel.collection_name) + merged, panel.shape)

    @admin.display(description="seats")
    def seats(self, panel: Panel) -> str:
        return render_to_string("evidence/chips.html", {"panel": panel})

    @admin.display(description="seconds")
    def took(self, panel: Panel) -> str:
        return "" if panel.seconds is None else f"{panel.seconds:.1f}"

    @admin.display(description="verdicts")
    def verdicts(self, panel: Panel) -> str:
        counts = verdict_counts(panel)
        return _two_lines(f"{counts.given} given", f"{counts.owed} owed")


def _two_lines(first: str, second: str) -> str:
    return format_html('<span class="two-lines">{}<span>{}</span></span>', first, second)
