"""Alerts: what happened, how it is known and what to do, open ones first; resolved by one click."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from django.contrib import admin, messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from collections_app.admin.knowledge.shown import ShownAdmin, page_of
from collections_app.models import Alert, LanguageModel
from collections_app.services.alerts import open_alerts, resolve_alert

ON_A_PAGE = 50
COLOURS = {
    Alert.Kind.WENT_PAID: "bad",
    Alert.Kind.GONE: "bad",
    Alert.Kind.KEY_REJECTED: "bad",
    Alert.Kind.RETIRING: "warn",
    Alert.Kind.QUOTA_LOW: "warn",
    Alert.Kind.STALE_SOURCE: "note",
}
Link = tuple[str, str]


@admin.register(Alert)
class AlertAdmin(ShownAdmin):
    title = "Alerts"
    template = "collections_app/knowledge/alerts.html"

    def shown(self, request: HttpRequest) -> dict[str, Any]:
        rows = Alert.objects.select_related("endpoint").order_by(F("resolved_at").desc(nulls_first=True), "-opened_at", "-id")
        page = page_of(rows, request, ON_A_PAGE)
        cards = with_links(page.object_list)
        return {
            "page": page,
            "open": [card for card in cards if not card["alert"].resolved_at],
            "resolved": [card for card in cards if card["alert"].resolved_at],
            "open_count": open_alerts(),
        }

    def done(self, request: HttpRequest, target: str, deed: str) -> HttpResponse:
        alert = get_object_or_404(Alert.objects.select_related("endpoint"), pk=target if target.isdecimal() else None)
        if resolve_alert(alert.kind, alert.endpoint, alert.about):
            messages.success(request, f"Resolved: {alert.get_kind_display()}. It is raised again when it happens again.")
        else:
            messages.info(request, "It was resolved already.")
        return redirect("admin:collections_app_alert_changelist")


def with_links(alerts: Iterable[Alert]) -> list[dict[str, Any]]:
    """Alerts with their colour and links to what they are about: one query, however many they are."""
    rows = list(alerts)
    models: dict[tuple[int, str], list[LanguageModel]] = {}
    about = LanguageModel.objects.filter(
        endpoint__in={alert.endpoint_id for alert in rows}, served_id__in={alert.about for alert in rows}
    )
    for model in about:
        models.setdefault((model.endpoint_id, model.served_id), []).append(model)
    return [
        {
            "alert": alert,
            "about": alert.about or str(alert.endpoint or ""),
            "colour": COLOURS.get(Alert.Kind(alert.kind), "plain"),
            "links": _links(alert, models),
        }
        for alert in rows
    ]


def _links(alert: Alert, models: dict[tuple[int, str], list[LanguageModel]]) -> list[Link]:
    """Where to look, and to act: what it is called, and its page."""
    links = [
        (f"Model {model.alias}", reverse("admin:collections_app_languagemodel_change", args=[model.pk]))
        for model in models.get((alert.endpoint_id or 0, alert.about), ())
    ]
    if alert.endpoint:
        links.append((f"Endpoint {alert.endpoint}", reverse("admin:collections_app_endpoint_change", args=[alert.endpoint_id])))
    if alert.kind == Alert.Kind.QUOTA_LOW:
        links.append(("Limits left", reverse("admin:collections_app_cooldown_changelist")))
    if alert.kind == Alert.Kind.STALE_SOURCE:
        sources = reverse("admin:collections_app_catalogsource_changelist")
        links.append((f"Source {alert.about}", f"{sources}?source={quote(alert.about)}"))
    return links
