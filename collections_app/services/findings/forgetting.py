"""What was learned about a field is forgotten when a person edits it: they know better, or have another account now. So is why
the bench had retired a model whose status they set.

Watches rows as they are saved, whoever saves them: a form, a bench file, a command.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models.signals import pre_save

from collections_app.models import Endpoint, Fact, LanguageModel
from collections_app.models.catalog import LEARNED
from collections_app.models.health import WHOLE_ACCOUNT
from collections_app.models.health.quota import LIMITS
from collections_app.services.cooling import end_counted_rest

WATCHED = ("context_window", "output_limit", *LIMITS)


def watch_edits() -> None:
    """Have every edit of a window or a limit forget what calls taught about it."""
    pre_save.connect(_model_saved, sender=LanguageModel, dispatch_uid="what was learned of an edited model")
    pre_save.connect(_endpoint_saved, sender=Endpoint, dispatch_uid="what was learned of an edited endpoint")


def _model_saved(instance: LanguageModel, update_fields: Iterable[str] | None = None, **_: Any) -> None:
    edited = _edited(instance, WATCHED, update_fields)
    forget_learned(instance.endpoint_id, instance.served_id, edited)
    if update_fields is None and _edited(instance, ("status", "retired_why"), None) == ["status"]:
        # From here on it stands as a person's word, whichever it is.
        instance.retired_why = ""


def _endpoint_saved(instance: Endpoint, update_fields: Iterable[str] | None = None, **_: Any) -> None:
    edited = _edited(instance, LIMITS, update_fields)
    forget_learned(instance.pk, WHOLE_ACCOUNT, edited)


def _edited(row: LanguageModel | Endpoint, watched: Iterable[str], saved: Iterable[str] | None) -> list[str]:
    """Which of the watched fields this saving changes; a new row's are no edits."""
    fields = [field for field in watched if saved is None or field in saved]
    if row.pk is None or row._state.adding or not fields:
        return []
    before = type(row)._default_manager.filter(pk=row.pk).values(*fields).first()
    return [field for field, value in (before or {}).items() if value != getattr(row, field)]


def forget_learned(endpoint_id: int, served_id: str, known: Iterable[str]) -> None:
    """Forget what calls taught about these fields of an id, or of a pattern of ids."""
    fields = list(known)
    if not fields:
        return
    Fact.objects.filter(endpoint_id=endpoint_id, served_id=served_id, field__in=fields, source=LEARNED).delete()
    if any(field in LIMITS for field in fields):
        # Where the new limit is used up too, the next call that is refused lets it rest again.
        end_counted_rest(endpoint_id, served_id)
