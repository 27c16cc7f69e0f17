"""One model's record, as a page: what it came to on each shape, speed, failures, what is left, answers, what was wrong."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from collections_app.models import LanguageModel
from collections_app.services.quotas import forecast
from evidence.selectors.model_record import lately, latest_calls, records_by_shape, wrong_about

MOST_CALLS = 12
MOST_CLAIMS = 12


@require_safe
def model_record(request: HttpRequest, pk: int) -> HttpResponse:
    if not request.user.has_perms(["evidence.view_tally", "evidence.view_panel"]):
        raise PermissionDenied
    model = get_object_or_404(LanguageModel.objects.select_related("endpoint"), pk=pk)
    context = {
        **admin.site.each_context(request),
        "opts": LanguageModel._meta,
        "original": model,
        "model": model,
        "title": f"Record of {model.alias}",
        "is_fullwidth": "1",
        "records": records_by_shape(model),
        "merges": records_by_shape(model, merging=True),
        "lately": lately(model),
        "limits": forecast(model),
        "calls": latest_calls(model, MOST_CALLS),
        "latest": wrong_about(model, MOST_CLAIMS),
    }
    return TemplateResponse(request, "evidence/model_record/page.html", context)
