"""Whom not to ask until when: how long a refusal lets a model or a whole account rest, and when that ends early.

Overload is no reason: it is over in a moment, and the provider's to bear.
"""

from datetime import datetime, timedelta

from django.db import transaction

from collections_app.models import CoolDown
from collections_app.models.health import covers
from collections_app.plain_text import tidy

# How long when nobody says: after a limit of a minute, after any other; each doubles while no answer comes in between.
A_MINUTES, UNSTATED = timedelta(minutes=1), timedelta(minutes=30)
LONGEST = timedelta(days=1)
LONGEST_WHY = 300


@transaction.atomic
def cool_down(
    endpoint_id: int, served_id: str, *, at: datetime, why: str, until: datetime | None = None, first: timedelta = UNSTATED
) -> CoolDown:
    """Let `served_id`, an id or a pattern, rest after a refusal at `at`, until the moment that was stated.

    When none was: for `first`, doubled for every refusal before this one that no answer came after, a day at most.
    """
    row = _row(endpoint_id, served_id, at)
    # What had been asked before the rest began says nothing new about how long it should be.
    again = row.until <= at
    if again:
        row.times, row.since = row.times + 1, at
    ends = until or at + min(first * 2 ** min(max(row.times, 1) - 1, 20), LONGEST)
    if again or ends > row.until:
        row.until, row.why = max(ends, row.until), tidy(why, LONGEST_WHY)
        row.save()
    return row


@transaction.atomic
def rest(endpoint_id: int, served_id: str, *, at: datetime, until: datetime, why: str) -> None:
    """Let `served_id` rest because this bench's own count says so. It counts as no refusal."""
    row = _row(endpoint_id, served_id, at)
    if until > row.until:
        row.times, row.since, row.until, row.why = 0, at, until, tidy(why, LONGEST_WHY)
        row.save()


def end_rest(endpoint_id: int, served_id: str) -> None:
    """End the rest of this id alone, whatever its reason; its account's stays."""
    for row in CoolDown.objects.filter(endpoint_id=endpoint_id, served_id=served_id):
        row.delete()


def forget_refusals(endpoint_id: int, served_id: str, at: datetime) -> None:
    """Forget how often this id and its account were refused, after an answer at `at`; a rest that is not over stays."""
    for row in CoolDown.objects.filter(endpoint_id=endpoint_id, until__lte=at):
        if covers(row.served_id, served_id):
            row.delete()


def end_counted_rest(endpoint_id: int, served_id: str) -> None:
    """End what was counted here and does not hold any more; refusals by the provider stay."""
    for row in CoolDown.objects.filter(endpoint_id=endpoint_id, served_id=served_id, times=0):
        row.delete()


def _row(endpoint_id: int, served_id: str, at: datetime) -> CoolDown:
    """The one row of an id, locked; a new one has ended already, and never been refused."""
    defaults = {"until": at, "since": at, "times": 0}
    return CoolDown.objects.select_for_update().get_or_create(endpoint_id=endpoint_id, served_id=served_id, defaults=defaults)[
        0
    ]
