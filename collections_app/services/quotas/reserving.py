"""Reserving before a call goes out, and settling when it has ended."""

from datetime import datetime

from django.utils import timezone

from collections_app.services.quotas.claims import TOKENS, Claim, Drawn, Refused, Reservation, judge, unit_of
from collections_app.services.quotas.counting import add, correct_tokens, counter_of, entries, used_of
from collections_app.services.quotas.using_up import is_used_up, notice, rest_until_tomorrow


def reserve(claim: Claim, *, now: datetime | None = None) -> Reservation | Refused:
    """Count a call that is about to go out, or say what is in its way. Waits for nothing but its turn at the counter.

    All of its limits are drawn on, or none.
    """
    drawn = Drawn(1, claim.tokens)
    with counter_of(claim.endpoint_id):
        # Read in its turn: a call that is counted later is a later one.
        at = now or timezone.now()
        used = used_of(claim.endpoint_id, claim.quotas, at)
        refused = judge(claim, used, at)
        if refused:
            for quota in claim.quotas:
                if is_used_up(quota, used[quota.pattern]):
                    rest_until_tomorrow(claim.endpoint_id, quota, used[quota.pattern], at)
            return refused
        add(claim.endpoint_id, (entry for quota in claim.quotas for entry in entries(quota, drawn, at)))
        for quota in claim.quotas:
            notice(claim.endpoint_id, quota, used[quota.pattern], used[quota.pattern].plus(drawn), at)
    return Reservation(claim=claim, at=at)


def settle(reservation: Reservation, tokens: int, *, now: datetime | None = None) -> None:
    """Correct what a call had reserved to the tokens that it took in fact. Costs nothing where no tokens are limited."""
    claim = reservation.claim
    quotas = [quota for quota in claim.quotas if any(unit_of(field) == TOKENS for field, _ in quota.limits())]
    change = tokens - claim.tokens
    if not quotas or not change:
        return
    with counter_of(claim.endpoint_id):
        counted = (entry for quota in quotas for entry in entries(quota, Drawn(), reservation.at))
        correct_tokens(claim.endpoint_id, counted, change)
        at = now or timezone.now()
        used = used_of(claim.endpoint_id, quotas, at)
        for quota in quotas:
            if quota.day(at) == quota.day(reservation.at):
                notice(claim.endpoint_id, quota, used[quota.pattern].plus(Drawn(0, -change)), used[quota.pattern], at)
