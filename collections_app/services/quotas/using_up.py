"""What follows from a day's count: what is used up rests until the next day, and a person is told when little is left."""

from collections.abc import Iterator
from datetime import datetime

from collections_app.models import Alert, Endpoint
from collections_app.models.health import Quota
from collections_app.services.alerts import raise_alert, resolve_alert
from collections_app.services.cooling import end_counted_rest, rest
from collections_app.services.quotas.claims import Used, is_low, named, span_of, unit_of

TO_DO = (
    "Ask it less until then, or raise the limit at its provider, and on the model's or the endpoint's page if it is set there."
)


def notice(endpoint_id: int, quota: Quota, before: Used, after: Used, at: datetime) -> None:
    """Act on what a change of a day's count means. Costs no query but where it crosses a line, or begins a day."""
    was, now = is_used_up(quota, before), is_used_up(quota, after)
    if now and not was:
        rest_until_tomorrow(endpoint_id, quota, after, at)
    elif was and not now:
        # It had been used up by an estimate alone.
        end_counted_rest(endpoint_id, quota.pattern)
    was, now = _is_low(quota, before), _is_low(quota, after)
    if now and not was:
        _tell(endpoint_id, quota, after, at)
    elif was != now or before.day is None:
        _take_back(endpoint_id, quota)


def is_used_up(quota: Quota, used: Used) -> bool:
    """Whether a limit of today's has nothing left."""
    return any(left <= 0 for _, _, left in _today(quota, used))


def rest_until_tomorrow(endpoint_id: int, quota: Quota, used: Used, at: datetime) -> None:
    """Let nobody be seated who would draw on this, until its day is over."""
    over = "; ".join(named(field, limit, quota.pattern) for field, limit, left in _today(quota, used) if left <= 0)
    rest(endpoint_id, quota.pattern, until=quota.day(at)[1], why=f"{over} is used up", at=at)


def _today(quota: Quota, used: Used) -> Iterator[tuple[str, int, int]]:
    """Every limit of a day: its field, how high it is, what is left of it."""
    for field, limit in quota.limits():
        if span_of(field) == "day":
            yield field, limit, limit - used.today(unit_of(field))


def _is_low(quota: Quota, used: Used) -> bool:
    return any(is_low(left, limit) for _, limit, left in _today(quota, used))


def _tell(endpoint_id: int, quota: Quota, used: Used, at: datetime) -> None:
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    low = [(field, limit, max(0, left)) for field, limit, left in _today(quota, used) if is_low(left, limit)]
    left = " and ".join(
        f"{left:,} of {limit:,} {field.replace('_per_', ' a ').replace('_', ' ')}" for field, limit, left in low
    )
    until = quota.day(at)[1]
    message = f"{quota.pattern} at {endpoint}: {left} left until {until:%Y-%m-%d %H:%M} UTC, by this bench's count."
    raise_alert(Alert.Kind.QUOTA_LOW, endpoint, quota.pattern, message=message, to_do=TO_DO)


def _take_back(endpoint_id: int, quota: Quota) -> None:
    resolve_alert(Alert.Kind.QUOTA_LOW, Endpoint(pk=endpoint_id), quota.pattern)
