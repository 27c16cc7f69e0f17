"""The local endpoint's rows: one endpoint, two settings of one model, and the collection of both.

Written once, then left to whoever runs the bench: later starts change only the port and who is retired.
Every change is logged as made by the local endpoint.
"""

from collections.abc import Mapping
from typing import Any

from auditlog.context import set_extra_data
from django.db import transaction
from django.db.models import QuerySet

from collections_app.models import Collection, Endpoint, LanguageModel
from collections_app.services.members import set_members
from collections_app.services.status import set_status

NAME = "local"
COLLECTION = "starter"
DESCRIPTION = (
    "Two settings of one small model that runs on this machine, for trying the bench: steady at temperature 0, lively at 1. "
    "They share their weights and their mistakes: not a second opinion."
)
WINDOW = 4096
# Enough for a paragraph, and a few seconds on one slow core.
LONGEST_ANSWER = 256
# The server has one model and answers to any name: what comes after the colon tells the two settings apart.
SERVED_ID = "smollm2-135m-instruct"
MODELS: Mapping[str, dict[str, Any]] = {
    f"{SERVED_ID}:steady": {"alias": "smollm2-steady", "temperature": 0.0},
    f"{SERVED_ID}:lively": {"alias": "smollm2-lively", "temperature": 1.0},
}
MADE_BY = {"additional_data": {"by": "local endpoint"}}


def is_ours() -> bool:
    """Whether the endpoint of our name serves our models, and so is not somebody's own."""
    return _models().exists()


def stored_base_url() -> str:
    """Where the local endpoint was at the last start; empty when there is none."""
    return Endpoint.objects.filter(name=NAME).values_list("base_url", flat=True).first() or ""


def put_in_place(base_url: str) -> None:
    """Have the rows there and in use, at `base_url`. Raises IntegrityError when an alias is somebody else's."""
    with transaction.atomic(), set_extra_data(dict(MADE_BY)):
        endpoint, _ = Endpoint.objects.get_or_create(name=NAME, defaults={"base_url": base_url})
        if endpoint.base_url != base_url:
            endpoint.base_url = base_url
            endpoint.save(update_fields=["base_url"])
        models = [_model(endpoint, served_id) for served_id in MODELS]
        collection, made = Collection.objects.get_or_create(
            name=COLLECTION, defaults={"description": DESCRIPTION, "tags": ["local", "trial"]}
        )
        if made:
            set_members(collection, models)


def retire() -> list[str]:
    """Retire the local models, so that nothing calls a port where nobody listens; returns the aliases retired now.

    Their collection goes while nobody else sits in it: asked for, it would send its prompts to explorers elsewhere.
    """
    with transaction.atomic(), set_extra_data(dict(MADE_BY)):
        running = list(_models().exclude(status=LanguageModel.Status.RETIRED))
        set_status(running, LanguageModel.Status.RETIRED)
        theirs = Collection.objects.filter(name=COLLECTION, members__in=_models())
        for collection in theirs.exclude(members__in=LanguageModel.objects.exclude(pk__in=_models())).distinct():
            collection.delete()
    return [model.alias for model in running]


def _models() -> QuerySet[LanguageModel]:
    return LanguageModel.objects.filter(endpoint__name=NAME, served_id__in=MODELS)


def _model(endpoint: Endpoint, served_id: str) -> LanguageModel:
    setting = MODELS[served_id]
    model, _ = LanguageModel.objects.get_or_create(
        endpoint=endpoint,
        served_id=served_id,
        defaults={
            "alias": setting["alias"],
            "role": LanguageModel.Role.LIGHT,
            "context_window": WINDOW,
            "output_limit": LONGEST_ANSWER,
            "vision": False,
            "tools": False,
            "options": {"temperature": setting["temperature"], "max_tokens": LONGEST_ANSWER},
        },
    )
    if model.status == LanguageModel.Status.RETIRED:
        set_status([model], LanguageModel.Status.ACTIVE)
    return model
