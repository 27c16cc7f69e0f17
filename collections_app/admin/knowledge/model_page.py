"""A model's page: every field with what each source says of it, overrides beside that, how it stands, and what a click does.

A click changes one thing at once, by POST; the form's other fields stay as they were saved.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from collections_app.admin.knowledge.alerts import with_links
from collections_app.admin.knowledge.standing import under_way
from collections_app.admin.rows import RowAdmin
from collections_app.models import Alert, CoolDown, Doubt, LanguageModel
from collections_app.models.catalog import FIELDS, Value
from collections_app.models.catalog.known import OPERATOR, SET_BY_HAND
from collections_app.models.health import covers
from collections_app.services.findings.forgetting import forget_learned
from collections_app.services.quotas import forecast
from collections_app.services.retirement import restore
from collections_app.services.status import set_status
from collections_app.templatetags.knowledge import field_name

PAGE = "admin:collections_app_languagemodel_change"
MOST_DOUBTS = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One field: what is said of it, the value that holds first, and the form's field that comes before all of that."""

    field: str
    values: tuple[Value, ...]
    override: Any = None

    @property
    def is_set(self) -> bool:
        return bool(self.values) and self.values[0].source == OPERATOR


class KnownPage(RowAdmin):
    change_form_template = "collections_app/knowledge/model.html"

    def get_urls(self) -> list[URLPattern]:
        act = path("<int:pk>/do/<str:deed>/", self.admin_site.admin_view(self.act), name="collections_app_languagemodel_act")
        return [act, *super().get_urls()]

    @method_decorator(require_POST)
    def act(self, request: HttpRequest, pk: int, deed: str) -> HttpResponse:
        """Do one thing to one model, and lead back to its page."""
        model = self.get_object(request, str(pk))
        if model is None or deed not in DEEDS:
            raise Http404
        if not self.has_change_permission(request, model):
            raise PermissionDenied
        try:
            messages.success(request, DEEDS[deed](model, request.POST.get("field", "")))
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        return redirect(PAGE, model.pk)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        model = kwargs.get("obj")
        context |= standing_on_page(model) if model else {}
        context["known"] = rows(model, context["adminform"].form)
        context["may_act"] = bool(model) and self.has_change_permission(request, model)
        return super().render_change_form(request, context, *args, **kwargs)


def rows(model: LanguageModel | None, form: forms.BaseForm) -> list[Row]:
    """Every field that is known or that can be set, in one order."""
    values = model.known.values if model else {}
    shown = (name for name in FIELDS if name in SET_BY_HAND or values.get(name))
    return [Row(name, tuple(values.get(name, ())), form[name] if name in form.fields else None) for name in shown]


def standing_on_page(model: LanguageModel) -> dict[str, Any]:
    """How a saved model stands, and have it know what is known."""
    about = {"endpoint": model.endpoint_id, "served_id": model.served_id}
    alerts = Alert.objects.filter(endpoint=model.endpoint_id, about__in=(model.served_id, ""), resolved_at=None)
    return {
        "limits": forecast(model),
        "rests": _rests(model, under_way({model.endpoint_id}).get(model.endpoint_id, ())),
        "doubts": Doubt.objects.filter(**about).order_by("-at")[:MOST_DOUBTS],
        "alerts": with_links(alerts.select_related("endpoint")),
        "now": timezone.now(),
    }


def _rests(model: LanguageModel, rests: Iterable[CoolDown]) -> list[CoolDown]:
    return [rest for rest in rests if covers(rest.served_id, model.served_id)]


def clear(model: LanguageModel, field: str) -> str:
    """Take one override back. What calls had taught is forgotten with it, as with every edit."""
    if field not in SET_BY_HAND:
        raise ValidationError("There is nothing of that name to be set.")
    setattr(model, field, None)
    model.save(update_fields=[field])
    return f"{field_name(field)} is as the sources have it."


def forget(model: LanguageModel, field: str) -> str:
    if field not in FIELDS:
        raise ValidationError("Nothing of that name is known.")
    forget_learned(model.endpoint_id, model.served_id, [field])
    return f"{field_name(field)}: what was learned is forgotten. The next error or reply that tells teaches it again."


def retire(model: LanguageModel, _: str) -> str:
    set_status([model], LanguageModel.Status.RETIRED)
    return f"{model.alias} is retired: it is never called. Nothing but a person brings it back."


def restore_checked(model: LanguageModel, _: str = "") -> str:
    """Raises ValidationError when it must not sit: it answers typed questions on this bench."""
    seated = copy(model)
    seated.status = LanguageModel.Status.ACTIVE
    seated.validate_constraints()
    restore(model)
    return f"{model.alias} is {model.status.replace('_', ' ')} again, and what spoke against it is forgotten."


def forget_doubts(model: LanguageModel, _: str) -> str:
    for doubt in Doubt.objects.filter(endpoint=model.endpoint_id, served_id=model.served_id):
        # One by one: the roster is read again after a row that is deleted.
        doubt.delete()
    return "The doubts are forgotten."


DEEDS: Mapping[str, Callable[[LanguageModel, str], str]] = {
    "clear": clear,
    "forget": forget,
    "retire": retire,
    "restore": restore_checked,
    "forget-doubts": forget_doubts,
}
