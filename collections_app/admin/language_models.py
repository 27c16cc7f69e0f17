"""Models: what sits on the bench, where it is served, and what it can take."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextareaWidget

from collections_app.admin.endpoints import TIMEOUTS
from collections_app.admin.fields import OptionsField, WordsField
from collections_app.admin.knowledge.model_page import KnownPage, restore_checked
from collections_app.admin.knowledge.standing import NowFilter, StandingList, TakesFilter
from collections_app.admin.rows import STATUS_COLOURS
from collections_app.models import Endpoint, LanguageModel
from collections_app.models.catalog.known import SET_BY_HAND
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
class LanguageModelAdmin(KnownPage):
    nothing_yet = (
        "Nobody can sit yet. Onboarding goes from a provider's key, or a server of this machine, to models that were tried."
    )
    form = LanguageModelForm
    list_display = ("alias", "served", "sits_as", "stands", "window", "takes", "terms", "left")
    list_filter = ("status", NowFilter, "role", "endpoint", TakesFilter)
    list_select_related = ("endpoint",)
    # What the theme writes for a row is most of what a page costs.
    list_per_page = 40
    show_full_result_count = False
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
        ("What is known", {"fields": SET_BY_HAND, "classes": ("known-fieldset",)}),
        (
            "How it is called",
            {"fields": ("options", *TIMEOUTS), "description": "Timeouts in seconds; empty: as the endpoint has it."},
        ),
    )

    class Media:
        css = {"all": ["collections_app/knowledge.css"]}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return StandingList

    def get_changeform_initial_data(self, request: HttpRequest) -> Any:
        """Where there is one endpoint, it is the one that is meant."""
        endpoints = list(Endpoint.objects.values_list("pk", flat=True)[:2])
        only = {"endpoint": endpoints[0]} if len(endpoints) == 1 else {}
        return only | super().get_changeform_initial_data(request)

    @admin.display(description="model id, endpoint", ordering="served_id")
    def served(self, model: LanguageModel) -> SafeString:
        return _cell("served", model)

    @admin.display(description="role, family lines", ordering="role")
    def sits_as(self, model: LanguageModel) -> SafeString:
        return _cell("sits_as", model, lines=self.lines(model))

    @admin.display(description="status", ordering="status")
    def stands(self, model: Any) -> SafeString:
        return _cell("stands", model, colour=STATUS_COLOURS.get(model.status, "plain"))

    @admin.display(description="lines in use")
    def lines(self, model: LanguageModel) -> str:
        if not model.served_id:
            return "read from the model id when it is saved"
        return ", ".join(sorted(model.families)) or "none: a router, it never explores"

    @admin.display(description="window")
    def window(self, model: LanguageModel) -> SafeString:
        return _cell("window", model, held=model.known.held("context_window"))

    @admin.display(description="takes")
    def takes(self, model: LanguageModel) -> SafeString:
        return _cell("takes", model, vision=model.known.get("vision"), tools=model.known.get("tools"))

    @admin.display(description="price")
    def terms(self, model: LanguageModel) -> SafeString:
        prices = {name: model.known.get(name) for name in ("free", "price_in", "price_out")}
        return _cell("terms", model, **prices)

    @admin.display(description="left")
    def left(self, model: Any) -> SafeString:
        return _cell("left", model, one=model.standing.left)

    @admin.action(description="Retire: never call them", permissions=["change"])
    def retire(self, request: HttpRequest, models: QuerySet[LanguageModel]) -> None:
        changed = set_status(models, LanguageModel.Status.RETIRED)
        messages.success(request, f"{changed} of {len(models)} changed to retired.")

    @admin.action(description="Restore: let them be called again", permissions=["change"])
    def restore(self, request: HttpRequest, models: QuerySet[LanguageModel]) -> None:
        restored = 0
        for model in models.filter(status=LanguageModel.Status.RETIRED):
            try:
                restore_checked(model)
                restored += 1
            except ValidationError as error:
                messages.error(request, f"{model.alias}: {' '.join(error.messages)}")
        messages.success(request, f"{restored} of {len(models)} restored to what they were.")


def _cell(name: str, model: LanguageModel, **shown: Any) -> SafeString:
    """What one column says of a model: templates escape it, whoever wrote it."""
    # Without what stands around it: a cell that says nothing is empty, and a phone leaves it out.
    return SafeString(render_to_string("collections_app/knowledge/list.html", {"cell": name, "model": model, **shown}).strip())
