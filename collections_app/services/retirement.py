"""Models that their provider no longer serves: retired with the reason, doubted first where that is not sure, and brought back.

A person's word is absolute: what was retired by hand stays so, and nothing here brings a model back but a person.
"""

from datetime import datetime, timedelta

from auditlog.context import set_extra_data
from auditlog.models import LogEntry
from django.db import transaction

from collections_app.models import Alert, Doubt, Endpoint, LanguageModel
from collections_app.plain_text import tidy
from collections_app.services.alerts import raise_alert, resolve_alert
from collections_app.services.cooling import end_rest

# Two different requests within this time that find a model gone are believed.
WITHIN = timedelta(hours=1)
ENOUGH = 2
BY = {"additional_data": {"by": "what its provider answered"}}
LONGEST_WHY, LONGEST_SAID = 300, 300
TO_DO = "Choose another model in its place. If it is back, restore it on its page: what it answered and was judged for is kept."


def retire(endpoint_id: int, served_id: str, *, why: str) -> int:
    """Retire every model that is this id, and say why; returns how many. Those that are retired already stay as they are."""
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    sitting = LanguageModel.objects.filter(endpoint=endpoint, served_id=served_id).exclude(status=LanguageModel.Status.RETIRED)
    with transaction.atomic(), set_extra_data(dict(BY)):
        models = list(sitting.select_for_update())
        for model in models:
            model.status, model.retired_why = LanguageModel.Status.RETIRED, tidy(why, LONGEST_WHY)
            model.save(update_fields=["status", "retired_why"])
        _forget_doubts(endpoint_id, served_id)
    if models:
        aliases = ", ".join(model.alias for model in models)
        message = f"{aliases}: {served_id} at {endpoint} is gone and was retired. {tidy(why, LONGEST_WHY)}"
        raise_alert(Alert.Kind.GONE, endpoint, served_id, message=message, to_do=TO_DO)
    return len(models)


@transaction.atomic
def doubt(endpoint_id: int, served_id: str, *, request: str, at: datetime, said: str) -> None:
    """Note that one request found a model gone, and retire it when another one did within the hour."""
    found = {"endpoint_id": endpoint_id, "served_id": served_id}
    Doubt.objects.get_or_create(**found, request=request, defaults={"at": at, "said": tidy(said, LONGEST_SAID)})
    recent = Doubt.objects.filter(**found, at__gt=at - WITHIN, at__lte=at + WITHIN)
    if recent.count() >= ENOUGH:
        retire(endpoint_id, served_id, why=f"{ENOUGH} requests within an hour found it gone: {said}")


@transaction.atomic
def restore(model: LanguageModel) -> None:
    """Bring a retired model back to what it was before, and forget what spoke against it."""
    if model.status == LanguageModel.Status.RETIRED:
        model.status = _status_before(model)
    model.retired_why = ""
    model.save(update_fields=["status", "retired_why"])
    _forget_doubts(model.endpoint_id, model.served_id)
    end_rest(model.endpoint_id, model.served_id)
    for kind in (Alert.Kind.GONE, Alert.Kind.RETIRING, Alert.Kind.WENT_PAID):
        resolve_alert(kind, model.endpoint, model.served_id)


def _forget_doubts(endpoint_id: int, served_id: str) -> None:
    for row in Doubt.objects.filter(endpoint_id=endpoint_id, served_id=served_id):
        row.delete()


def _status_before(model: LanguageModel) -> str:
    """What the change log says it was when it was retired; active where it does not say."""
    for entry in LogEntry.objects.get_for_object(model).order_by("-timestamp", "-id"):
        before, after = (entry.changes or {}).get("status", (None, None))
        if after == LanguageModel.Status.RETIRED:
            return before if before in LanguageModel.Status.values else LanguageModel.Status.ACTIVE
    return LanguageModel.Status.ACTIVE
