"""What replies tell of limits in numbers, and what that says about our own count: others may draw on the same account."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from collections_app.models import Endpoint
from collections_app.models.health import WHOLE_ACCOUNT, Quota
from collections_app.models.health.quota import LIMITS, zone_of
from collections_app.services.quotas.claims import MINUTE, REQUESTS, Drawn, span_of, unit_of
from collections_app.services.quotas.counting import Entry, add, counter_of, used_of
from collections_app.services.quotas.using_up import notice


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitTold:
    """A limit as a reply told it: `field` is one of Fact's, `reset_seconds` counts from the call's end."""

    field: str
    limit: int | None = None
    remaining: int | None = None
    reset_seconds: float | None = None
    account: bool = False

    def pattern(self, served_id: str, shared: str) -> str:
        """Which ids draw on it; `shared`: the pattern that the reply named, if it named one."""
        return (shared or WHOLE_ACCOUNT) if self.account else served_id


def correct(endpoint_id: int, told: Iterable[tuple[str, LimitTold]], at: datetime) -> None:
    """Raise our count to what a provider says is drawn, by pattern; it is never lowered. `at`: when the reply came."""
    known = [(pattern, limit) for pattern, limit in told if limit.field in LIMITS and _drawn(limit) > 0]
    if not known:
        return
    zone = zone_of(Endpoint.objects.get(pk=endpoint_id))
    with counter_of(endpoint_id):
        for pattern, limit in known:
            quota = Quota(pattern=pattern, zone=zone, **{limit.field: limit.limit})
            used = used_of(endpoint_id, [quota], at)[pattern]
            unit, in_a_day = unit_of(limit.field), span_of(limit.field) == "day"
            more = _drawn(limit) - (used.today(unit) if in_a_day else used.last_minute(unit))
            if more > 0:
                drawn = Drawn(more, 0) if unit == REQUESTS else Drawn(0, more)
                start = quota.day(at)[0] if in_a_day else _ending_after(limit, at)
                add(endpoint_id, [Entry(pattern, span_of(limit.field), start, drawn)])
                if in_a_day:
                    notice(endpoint_id, quota, used, used.plus(drawn), at)


def _drawn(limit: LimitTold) -> int:
    """What is drawn on a limit, where both numbers are told."""
    return 0 if not limit.limit or limit.remaining is None else limit.limit - max(0, limit.remaining)


def _ending_after(limit: LimitTold, at: datetime) -> datetime:
    """The moment as of which others' calls are to be counted, so that they are forgotten when the provider says so."""
    reset = MINUTE.total_seconds() if limit.reset_seconds is None else limit.reset_seconds
    return at - MINUTE + timedelta(seconds=min(max(reset, 0.0), MINUTE.total_seconds()))
