"""Endpoints: providers' APIs, and whether the key that each names is there; never the key."""

import os
from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from collections_app.admin.rows import RowAdmin, chip, code
from collections_app.models import Endpoint

TIMEOUTS = ("connect_timeout", "first_token_timeout", "seat_timeout")


@admin.register(Endpoint)
class EndpointAdmin(RowAdmin):
    list_display = ("name", "protocol", "address", "key_found", "models")
    list_filter = ("protocol",)
    search_fields = ("name", "base_url")
    readonly_fields = ("key_found",)
    fieldsets = (
        (None, {"fields": ("name", "protocol", "base_url")}),
        ("Key", {"fields": ("api_key_env", "key_found")}),
        ("Timeouts", {"fields": TIMEOUTS, "description": "Seconds; empty: as set for the whole bench."}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Endpoint]:
        rows: QuerySet[Endpoint] = super().get_queryset(request)
        return rows.annotate(model_count=Count("language_models"))

    @admin.display(description="base URL", ordering="base_url")
    def address(self, endpoint: Endpoint) -> SafeString:
        return code(endpoint.base_url)

    @admin.display(description="key")
    def key_found(self, endpoint: Endpoint) -> SafeString:
        name = endpoint.api_key_env
        if not name:
            return chip("no key")
        return chip(f"{name} is set", "good") if os.environ.get(name) else chip(f"{name} is not set", "bad")

    @admin.display(description="models", ordering="model_count")
    def models(self, endpoint: Any) -> SafeString:
        url = reverse("admin:collections_app_languagemodel_changelist")
        return format_html(
            '<a class="bench-link" href="{}?endpoint__id__exact={}">{}</a>', url, endpoint.pk, endpoint.model_count
        )
