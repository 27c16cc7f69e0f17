"""A model's status: retired models are never called, restored ones sit and explore again."""

from collections.abc import Iterable

from django.db import transaction

from collections_app.models import LanguageModel


def set_status(models: Iterable[LanguageModel], status: str) -> int:
    """Give every one of `models` that status, whatever the bench itself had retired it for; returns how many had another."""
    changed = [model for model in models if model.status != status]
    with transaction.atomic():
        for model in changed:
            # One by one: the change log sees saves, not updates of a query.
            model.status, model.retired_why = status, ""
            model.save(update_fields=["status", "retired_why"])
    return len(changed)
