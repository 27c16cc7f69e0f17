"""Changes: who changed what and when, before and after; to read only."""

from typing import Any

from auditlog.models import LogEntry
from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from collections_app.admin.rows import ReadOnlyAdmin, chip
from collections_app.models import Change

DID = {
    LogEntry.Action.CREATE: ("made", "good"),
    LogEntry.Action.UPDATE: ("changed", "note"),
    LogEntry.Action.DELETE: ("deleted", "bad"),
}

# The log's own page, of which this is a nicer one.
admin.site.unregister(LogEntry)


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    nothing_yet = "Every change of the bench is kept here from the first on: who made it, when, what was before and after."
    list_display = ("when", "who", "did", "what", "summary")
    list_filter = (
        "action",
        ("timestamp", admin.DateFieldListFilter),
        ("content_type", admin.RelatedOnlyFieldListFilter),
        ("actor", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("content_type", "actor")
    list_fullwidth = True
    list_filter_sheet = False
    list_per_page = 50
    search_fields = ("object_repr", "changes", "actor__username")
    show_full_result_count = False
    actions = None
    fields = ("when", "who", "did", "what", "table")
    readonly_fields = fields

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        # The rows' own pages link to their changes so.
        return lookup == "object_pk__exact" or bool(super().lookup_allowed(lookup, value, request))

    @admin.display(description="when (UTC)", ordering="timestamp")
    def when(self, change: Change) -> str:
        return f"{change.timestamp:%Y-%m-%d %H:%M:%S}"

    @admin.display(description="who", ordering="actor__username")
    def who(self, change: Change) -> str:
        return change.made_by

    @admin.display(description="did", ordering="action")
    def did(self, change: Change) -> SafeString:
        return chip(*DID[change.action])

    @admin.display(description="what", ordering="object_repr")
    def what(self, change: Change) -> str:
        kind = change.content_type
        try:
            url = reverse(f"admin:{kind.app_label}_{kind.model}_change", args=[change.object_pk])
        except NoReverseMatch:
            return str(change)
        gone = change.action == LogEntry.Action.DELETE
        return str(change) if gone else format_html('<a class="bench-link" href="{}">{}</a>', url, change)

    @admin.display(description="changes")
    def summary(self, change: Change) -> SafeString:
        return render_to_string("collections_app/changes_in_list.html", {"change": change})

    @admin.display(description="changes")
    def table(self, change: Change) -> SafeString:
        return render_to_string("collections_app/changes.html", {"change": change})
