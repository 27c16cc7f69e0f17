"""Endpoints: providers' APIs, and whether each one's key is there; never the key."""

import os
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.debug import sensitive_post_parameters

from collections_app.admin.endpoint_form import EndpointForm
from collections_app.admin.knowledge.standing import under_way
from collections_app.admin.rows import RowAdmin, chip, code
from collections_app.catalog.providers import shipped
from collections_app.catalog.refreshing.served import provider_id
from collections_app.models import Endpoint
from collections_app.models.health.quota import LIMITS
from collections_app.selectors import typed_key_problem
from collections_app.services.provider_keys import clear_key, drop_key_of_another_host, store_key
from collections_app.services.quotas import forecast_endpoint

MOST_RESTS = 5
TIMEOUTS = ("connect_timeout", "first_token_timeout", "seat_timeout")
ACCOUNT = "Of the whole account: every model of this endpoint draws on them. Empty: as catalogs and replies have it."
KEYS = "Either an environment variable holds the key, or it is typed in. A variable that is set comes first."


@admin.register(Endpoint)
class EndpointAdmin(RowAdmin):
    nothing_yet = "An endpoint is a provider's API, or a server of this machine. Onboarding makes them from the keys it finds."
    form = EndpointForm
    list_display = ("name", "protocol", "address", "taken_for", "key_found", "models", "now")
    list_filter = ("protocol",)
    search_fields = ("name", "base_url")
    readonly_fields = ("key_found", "taken_for")
    change_form_outer_before_template = "collections_app/knowledge/account.html"  # type: ignore[assignment]  # unfold says None

    class Media:
        css = {"all": ["collections_app/knowledge.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Endpoint]:
        rows: QuerySet[Endpoint] = super().get_queryset(request)
        resting, alarming = Q(cool_downs__until__gt=timezone.now()), Q(alerts__resolved_at=None)
        return rows.annotate(
            model_count=Count("language_models", distinct=True),
            resting=Count("cool_downs", filter=resting, distinct=True),
            alarming=Count("alerts", filter=alarming, distinct=True),
        )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """To type a key in is for who may change the row, to clear one for a row that has one."""
        typing = ("new_key",) if self.has_change_permission(request, obj) else ()
        clearing = ("clear_key",) if typing and obj and obj.typed_key_id else ()
        return (
            (None, {"fields": ("name", "protocol", "base_url", ("provider", "taken_for"))}),
            ("Key", {"fields": ("key_found", "api_key_env", *typing, *clearing), "description": KEYS}),
            ("Account limits", {"fields": (LIMITS[:2], LIMITS[2:]), "description": ACCOUNT}),
            ("Timeouts", {"fields": TIMEOUTS, "description": "Seconds; empty: as set for the whole bench."}),
        )

    @method_decorator(sensitive_post_parameters("new_key"))
    def changeform_view(self, *args: Any, **kwargs: Any) -> Any:
        """Whatever goes wrong in here, no report of it shows the key."""
        return super().changeform_view(*args, **kwargs)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        if endpoint := kwargs.get("obj"):
            rests = under_way({endpoint.pk}).get(endpoint.pk, [])
            context |= {"limits": forecast_endpoint(endpoint), "rests": rests[:MOST_RESTS], "more": len(rests[MOST_RESTS:])}
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if key := form.cleaned_data.get("new_key"):
            store_key(obj, key)
            if os.environ.get(obj.api_key_env):
                messages.warning(request, f"{obj.api_key_env} is set, and comes before the key that was typed in.")
        elif form.cleaned_data.get("clear_key"):
            clear_key(obj)
        elif host := drop_key_of_another_host(obj):
            messages.warning(request, f"The key was dropped: it was typed for {host}. Type the new host's key in.")

    @admin.display(description="base URL", ordering="base_url")
    def address(self, endpoint: Endpoint) -> SafeString:
        return code(endpoint.base_url)

    @admin.display(description="taken for")
    def taken_for(self, endpoint: Endpoint) -> SafeString:
        """Whose API it is taken for, and by what: that says which catalog's rows and limits are about it."""
        known = provider_id(endpoint) if endpoint.base_url else ""
        name = next((provider.name for provider in shipped() if provider.id == known), known)
        return render_to_string("collections_app/knowledge/taken_for.html", {"id": known, "name": name, "endpoint": endpoint})

    @admin.display(description="key")
    def key_found(self, endpoint: Endpoint) -> SafeString:
        return format_html_join(" ", "{}", ((found,) for found in _keys(endpoint)))

    @admin.display(description="models", ordering="model_count")
    def models(self, endpoint: Any) -> SafeString:
        url = reverse("admin:collections_app_languagemodel_changelist")
        return format_html(
            '<a class="bench-link" href="{}?endpoint__id__exact={}">{}</a>', url, endpoint.pk, endpoint.model_count
        )

    @admin.display(description="now")
    def now(self, endpoint: Any) -> SafeString:
        """What is in the way of its models, with a link to where that is told of."""
        found = []
        if endpoint.resting:
            found.append(_link_chip("cooldown", f"{endpoint.resting} cooling down", "warn"))
        if endpoint.alarming:
            found.append(_link_chip("alert", f"{endpoint.alarming} alert{'' if endpoint.alarming == 1 else 's'}", "bad"))
        return format_html_join(" ", "{}", ((one,) for one in found))


def _link_chip(page: str, text: str, colour: str) -> SafeString:
    url = reverse(f"admin:collections_app_{page}_changelist")
    return format_html('<a class="bench-chip bench-{}" href="{}">{}</a>', colour, url, text)


def _keys(endpoint: Endpoint) -> list[SafeString]:
    """Where the endpoint's key is, or why it is not."""
    name, told = endpoint.api_key_env, endpoint.typed_key_told
    found = []
    if name:
        is_set = bool(os.environ.get(name, "").strip())
        found.append(chip(f"{name} is set", "good") if is_set else chip(f"{name} is not set", "plain" if told else "bad"))
    if told:
        found.append(chip(f"a key is stored {told}", "good"))
    if problem := typed_key_problem(endpoint):
        found.append(chip(problem, "bad"))
    return found or [chip("no key")]
