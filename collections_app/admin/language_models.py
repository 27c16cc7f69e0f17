"""Models: what sits on the bench, where it is served, and what it can take."""

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextareaWidget

from collections_app.admin.endpoints import TIMEOUTS
from collections_app.admin.fields import OptionsField, WordsField
from collections_app.admin.rows import RowAdmin, code, status_chip
from collections_app.models import LanguageModel
from collections_app.services.status import set_status


class LanguageModelForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    family = WordsField(
        required=False,
        help_text="Lines whose weights or teacher it carries, with commas between; empty: read from the model id.",
    )
    options = OptionsField(
        required=False,
        label="Call options",
        help_text='Sent with every call, as JSON: {"temperature": 0.2}',
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5, "class": "bench-code", "spellcheck": "false"}),
    )

    class Meta:
        model = LanguageModel
        fields = "__all__"  # noqa: DJ007 (the admin's fieldsets name them)


@admin.register(LanguageModel)
class LanguageModelAdmin(RowAdmin):
    form = LanguageModelForm
    list_display = ("alias", "served", "endpoint", "role", "stands", "lines", "window", "vision", "tools")
    list_filter = ("status", "role", "endpoint", "vision", "tools")
    list_select_related = ("endpoint",)
    search_fields = ("alias", "served_id", "endpoint__name")
    autocomplete_fields = ("endpoint",)
    readonly_fields = ("lines",)
    actions = ("retire", "restore")
    fieldsets = (
        (None, {"fields": ("alias", ("endpoint", "served_id"), ("role", "status"))}),
        (
            "Family",
            {
                "fields": ("family", "lines"),
                "description": "Models of one family tend to fail together: no two explore on one panel.",
            },
        ),
        (
            "What it can take",
            {
                "fields": (("context_window", "output_limit"), ("vision", "tools")),
                "description": "Overrides. Unknown is unknown: an unknown window refuses nothing, unknown vision counts as no.",
            },
        ),
        (
            "How it is called",
            {"fields": ("options", *TIMEOUTS), "description": "Timeouts in seconds; empty: as the endpoint has it."},
        ),
    )

    @admin.display(description="model id", ordering="served_id")
    def served(self, model: LanguageModel) -> SafeString:
        return code(model.served_id)

    @admin.display(description="status", ordering="status")
    def stands(self, model: LanguageModel) -> SafeString:
        return status_chip(model.status)

    @admin.display(description="lines in use")
    def lines(self, model: LanguageModel) -> str:
        if not model.served_id:
            return "read from the model id when it is saved"
        return ", ".join(sorted(model.families)) or "none: a router, it never explores"

    @admin.display(description="window", ordering="context_window")
    def window(self, model: LanguageModel) -> str:
        return "" if model.context_window is None else f"{model.context_window:,}"

    @admin.action(description="Retire: never call them", permissions=["change"])
    def retire(self, request: HttpRequest, models: QuerySet[LanguageModel]) -> None:
        self._set_status(request, models, LanguageModel.Status.RETIRED)

    @admin.action(description="Restore: let them sit and explore", permissions=["change"])
    def restore(self, request: HttpRequest, models: QuerySet[LanguageModel]) -> None:
        self._set_status(request, models, LanguageModel.Status.ACTIVE)

    def _set_status(self, request: HttpRequest, models: QuerySet[LanguageModel], status: str) -> None:
        changed = set_status(models, status)
        messages.success(request, f"{changed} of {len(models)} changed to {status}.")
