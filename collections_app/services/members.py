"""A collection's members: set as a whole, logged as a whole.

The one place that writes memberships outside a form; the form's own rows are logged here too.
"""

from collections.abc import Sequence

from auditlog.models import LogEntry
from django.db import transaction

from collections_app.models import Collection, LanguageModel, Membership


def set_members(collection: Collection, models: Sequence[LanguageModel]) -> bool:
    """Seat `models`, each named once, in that order and nobody else; returns whether anything changed."""
    present = {membership.language_model_id: membership for membership in collection.memberships.all()}
    if list(present) == [model.pk for model in models]:
        return False
    before = [membership.language_model.alias for membership in present.values()]
    with transaction.atomic():
        collection.memberships.exclude(language_model__in=models).delete()
        for position, model in enumerate(models):
            membership = present.get(model.pk) or Membership(collection=collection, language_model=model)
            if membership.pk is None or membership.position != position:
                membership.position = position
                membership.save()
        return log_members(collection, before, [model.alias for model in models])


def log_members(collection: Collection, before: Sequence[str], after: Sequence[str]) -> bool:
    """Log a change of members, by alias and in order; returns whether there was one."""
    if list(before) == list(after):
        return False
    LogEntry.objects.log_create(
        collection, action=LogEntry.Action.UPDATE, changes={"members": [", ".join(before), ", ".join(after)]}
    )
    return True
