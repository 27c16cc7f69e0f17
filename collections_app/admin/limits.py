"""Limits and the primary model: one page for the bench's one row; it is neither added nor deleted."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from collections_app.admin.rows import RowAdmin
from collections_app.models import Limits
from collections_app.selectors import seat_arithmetic


@admin.register(Limits)
class LimitsAdmin(RowAdmin):
    readonly_fields = ("sums",)
    autocomplete_fields = ("primary",)
    fieldsets = ((None, {"fields": (("max_calls", "max_explorers"), "sums")}), ("Merged replies", {"fields": ("primary",)}))

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        limits, _ = Limits.objects.get_or_create(pk=1)
        return redirect(reverse("admin:collections_app_limits_change", args=[limits.pk]))

    @admin.display(description="seats of a panel")
    def sums(self, limits: Limits) -> SafeString:
        return format_html_join("", "<div>{}</div>", ((seat_arithmetic(n, limits),) for n in range(1, limits.max_calls + 1)))
