"""What is no longer needed of how models were doing; for a job that runs daily."""

from datetime import datetime, timedelta

from django.db.models import Q

from collections_app.models import Alert, CoolDown, Doubt, Fact, Usage
from collections_app.models.catalog import LEARNED
from collections_app.models.health.quota import day_in, zone_of
from collections_app.services.retirement import WITHIN

KEPT_DAYS = timedelta(days=40)
KEPT_MINUTES = timedelta(hours=1)
# A row of refusals is remembered for as long as the longest wait: the next one doubles it.
KEPT_RESTS = timedelta(days=1)
# Tiers grow: what an error taught is forgotten, and the next one teaches it again.
KEPT_WINDOWS = timedelta(days=90)


def prune_health(now: datetime) -> int:
    """Remove old counts, doubts, rests that are over and windows learned long ago; returns how many rows.

    Alerts about a day's limit end with their day.
    """
    # By a clock that was put back since: they would count, and rest, until it has caught up.
    ahead = now + KEPT_MINUTES
    old = Q(start__lt=now - KEPT_DAYS) | Q(span="minute", start__lt=now - KEPT_MINUTES) | Q(span="minute", start__gt=ahead)
    counts = Usage.objects.filter(old).delete()[0]
    doubts = Doubt.objects.filter(at__lt=now - WITHIN).delete()[0]
    rests = CoolDown.objects.filter(Q(until__lt=now - KEPT_RESTS) | Q(since__gt=ahead)).delete()[0]
    lower = Fact.objects.filter(source=LEARNED, field__in=("context_window", "output_limit"))
    windows = lower.filter(known_since__lt=now - KEPT_WINDOWS).delete()[0]
    for alert in Alert.objects.filter(kind=Alert.Kind.QUOTA_LOW, resolved_at=None).select_related("endpoint"):
        if alert.endpoint and alert.opened_at < day_in(zone_of(alert.endpoint), now)[0]:
            alert.resolved_at = now
            alert.save(update_fields=["resolved_at"])
    return counts + doubts + rests + windows
