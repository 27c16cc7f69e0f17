"""Limits left: who rests until when and why, and of every known limit what is used, what is left and how long that lasts."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from collections_app.admin.knowledge.shown import ShownAdmin, page_of
from collections_app.models import CoolDown, Endpoint, Fact, LanguageModel
from collections_app.models.health import WHOLE_ACCOUNT
from collections_app.models.health.quota import LIMITS
from collections_app.services.cooling import end_rest
from collections_app.services.quotas import forecast_accounts, forecasts

ON_A_PAGE = 50
# Cool-downs: at first sight, and altogether.
FIRST_RESTS, MOST_RESTS = 8, 100


@admin.register(CoolDown)
class LimitsLeftAdmin(ShownAdmin):
    title = "Limits left"
    template = "collections_app/knowledge/limits_left.html"

    def shown(self, request: HttpRequest) -> dict[str, Any]:
        now = timezone.now()
        page = page_of(limited_models(), request, ON_A_PAGE)
        models = list(page.object_list)
        own = forecasts(models, now)
        endpoints = list(Endpoint.objects.all())
        accounts = forecast_accounts(endpoints, now)
        rests = list(CoolDown.objects.filter(until__gt=now).select_related("endpoint"))
        return {
            "page": page,
            "models": [(model, [one for one in own[model.pk] if one.pattern == model.served_id]) for model in models],
            "accounts": [(endpoint, accounts[endpoint.pk]) for endpoint in endpoints if accounts[endpoint.pk]],
            "rests": rests[:FIRST_RESTS],
            "more_rests": rests[FIRST_RESTS:MOST_RESTS],
            "uncounted": len(rests[MOST_RESTS:]),
            "now": now,
        }

    def done(self, request: HttpRequest, target: str, deed: str) -> HttpResponse:
        """End one cool-down, and lead back to the model that it was ended for, if it was ended on a model's page."""
        rest = get_object_or_404(CoolDown, pk=target if target.isdecimal() else None)
        end_rest(rest.endpoint_id, rest.served_id)
        messages.success(request, f"{_named(rest)} may be asked again. A limit that is still used up lets it rest again.")
        model = request.POST.get("model", "")
        if model.isdecimal() and LanguageModel.objects.filter(pk=model[:18]).exists():
            return redirect("admin:collections_app_languagemodel_change", model)
        return redirect("admin:collections_app_cooldown_changelist")


def limited_models() -> QuerySet[LanguageModel]:
    """The models of which a limit of their own is known, by endpoint and alias."""
    known = Fact.objects.filter(endpoint=OuterRef("endpoint"), served_id=OuterRef("served_id"), field__in=LIMITS)
    set_here = Q(*((f"{field}__isnull", False) for field in LIMITS), _connector=Q.OR)
    return (
        LanguageModel.objects.filter(set_here | Exists(known))
        .exclude(status=LanguageModel.Status.RETIRED)
        .select_related("endpoint")
        .order_by("endpoint__name", "alias")
    )


def _named(rest: CoolDown) -> str:
    return "The whole account" if rest.served_id == WHOLE_ACCOUNT else rest.served_id
