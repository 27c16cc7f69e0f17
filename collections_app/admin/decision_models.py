"""Decision models: who may pick the shape of a request, and what a probe of each found.

A probe goes out to the endpoint when its button is pressed, and at no other time.
"""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from collections_app.admin.rows import RowAdmin, chip, chips, code, status_chip
from collections_app.models import DecisionModel, Fact
from collections_app.models.catalog.known import known_by
from collections_app.services.decision_models import probe

FOUND_BY_PROBE = "Found by the probe, which asks the endpoint's own server one short question of each type."
PROBED = frozenset({"endpoint", "served_id", "dialect"})


@admin.register(DecisionModel)
class DecisionModelAdmin(RowAdmin):
    about = (
        "Who picks the shape of a request, where its collection has none and there is an explorer seat to fill: the first "
        "active one by alias that answers choice questions. Without one, such a request is general."
    )
    nothing_yet = (
        "Shapes are set on collections until there is one. It may be a System One model, or any chat model of an endpoint "
        "here: a probe on its page finds where and how it answers."
    )
    list_display = ("alias", "served", "endpoint", "stands", "answers", "probed", "failed")
    list_filter = ("status", "endpoint")
    list_select_related = ("endpoint",)
    search_fields = ("alias", "served_id", "endpoint__name")
    autocomplete_fields = ("endpoint",)
    readonly_fields = ("answers", "window", "probed", "failed")
    change_form_outer_before_template = "collections_app/probe.html"  # type: ignore[assignment]  # unfold says None
    fieldsets = (
        (None, {"fields": ("alias", ("endpoint", "served_id"), ("status", "dialect"))}),
        ("Where it answers", {"fields": ("url", "answers", "window", "probed", "failed"), "description": FOUND_BY_PROBE}),
    )

    def get_urls(self) -> list[URLPattern]:
        probing = path(
            "<path:object_id>/probe/", self.admin_site.admin_view(self.probe), name="collections_app_decisionmodel_probe"
        )
        return [probing, *super().get_urls()]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """What a probe found does not hold for another model."""
        if change and PROBED & set(form.changed_data):
            obj.question_types, obj.probed_at = [], None
            obj.url = obj.url if "url" in form.changed_data else ""
        super().save_model(request, obj, form, change)
        if not obj.question_types:
            messages.warning(request, "It picks no shape before it has been probed: press Probe on its page.")

    @method_decorator(require_POST)
    def probe(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask the endpoint now, and say what came of it."""
        model = self.get_object(request, object_id)
        if model is None or not self.has_change_permission(request, model):
            return HttpResponseRedirect(reverse("admin:collections_app_decisionmodel_changelist"))
        found = probe(model)
        if "choice" in found.types:
            messages.success(
                request, f"It answers at {found.url or 'its chat route'}: {', '.join(found.types)}. It can pick shapes."
            )
        elif found.types:
            messages.warning(
                request, f"It answers {', '.join(found.types)} but no choice, so it cannot pick shapes: {found.error}"
            )
        else:
            messages.error(request, f"It answered nowhere: {found.error}")
        return HttpResponseRedirect(reverse("admin:collections_app_decisionmodel_change", args=[model.pk]))

    @admin.display(description="model id", ordering="served_id")
    def served(self, model: DecisionModel) -> SafeString:
        return code(model.served_id)

    @admin.display(description="status", ordering="status")
    def stands(self, model: DecisionModel) -> SafeString:
        return status_chip(model.status)

    @admin.display(description="answers")
    def answers(self, model: DecisionModel) -> SafeString:
        return chips(map(str, model.question_types)) if model.question_types else chip("not probed", "warn")

    @admin.display(description="context window")
    def window(self, model: DecisionModel) -> str:
        facts = Fact.objects.filter(endpoint=model.endpoint_id, served_id=model.served_id, field="context_window")
        held = known_by({}, facts).held("context_window")
        return f"{held.value:,} tokens ({held.by})" if held else "unknown; at most 20,000 characters are sent"

    @admin.display(description="probed (UTC)", ordering="probed_at")
    def probed(self, model: DecisionModel) -> str:
        return f"{model.probed_at:%Y-%m-%d %H:%M}" if model.probed_at else "never"

    @admin.display(description="last error")
    def failed(self, model: DecisionModel) -> SafeString:
        return format_html("{}", model.last_error or "none")
