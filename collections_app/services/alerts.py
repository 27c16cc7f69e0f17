"""Alerts: raised once until they are resolved, by a person or because their cause is over.

Knows no cause: whoever sees one raises the alert, and resolves it again.
"""

from django.utils import timezone

from collections_app.models import Alert, Endpoint
from collections_app.plain_text import tidy

LONGEST = 500


def raise_alert(kind: str, endpoint: Endpoint | None, about: str, *, message: str, to_do: str) -> bool:
    """Open an alert, unless one of this kind about this is open; returns whether it was opened now.

    `about` is a served id, a catalog source's name, or empty for the whole endpoint. An open one keeps its date and gets the
    newer words; the same words again write nothing.
    """
    words = {"message": tidy(message, LONGEST), "to_do": tidy(to_do, LONGEST)}
    alert, opened = Alert.objects.get_or_create(
        kind=kind, endpoint=endpoint, about=about, resolved_at=None, defaults={**words, "opened_at": timezone.now()}
    )
    if not opened and (alert.message, alert.to_do) != (words["message"], words["to_do"]):
        Alert.objects.filter(pk=alert.pk).update(**words)
    return opened


def resolve_alert(kind: str, endpoint: Endpoint | None, about: str) -> bool:
    """Close the alert of this kind about this; returns whether one was open."""
    return bool(
        Alert.objects.filter(kind=kind, endpoint=endpoint, about=about, resolved_at=None).update(resolved_at=timezone.now())
    )


def open_alerts() -> int:
    """How many are open: one query of an index."""
    return Alert.objects.filter(resolved_at=None).count()


def told_before(kind: str, endpoint: Endpoint | None, about: str, *, message: str) -> bool:
    """Whether an alert of these words was resolved already: what a person has put aside while it lasts is not told again."""
    earlier = Alert.objects.filter(kind=kind, endpoint=endpoint, about=about).exclude(resolved_at=None)
    return earlier.filter(message=tidy(message, LONGEST)).exists()
