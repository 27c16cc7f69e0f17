"""Whether a call fits into its limits: values in, a value out. No row is read or written here.

A minute is any sixty seconds, not one of the clock's: with those, a whole minute's calls could go out at the end of one and
again at the beginning of the next. Every call of the last sixty seconds is known by its moment, so the count is exact to a
tenth of a second, and errs towards waiting; an estimate from two clock minutes would let too many out or hold back what
fits. A day is the provider's own, from midnight on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from collections_app.models.health import WHOLE_ACCOUNT, Quota, is_pattern

MINUTE = timedelta(seconds=60)
REQUESTS, TOKENS = "requests", "tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one call of an endpoint would draw, and on which limits: one request, and `tokens` by the estimate."""

    endpoint_id: int
    quotas: tuple[Quota, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A claim that was counted as of this moment: its call may go out."""

    claim: Claim
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A claim that does not fit as of `at`: which limit is in its way, and until when. None: it never fits."""

    at: datetime
    until: datetime | None
    why: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn on a limit at one moment, or over a time."""

    requests: int = 0
    tokens: int = 0

    def of(self, unit: str) -> int:
        return self.requests if unit == REQUESTS else self.tokens


@dataclass(frozen=True, slots=True)
class Used:
    """What was drawn on one quota: within the last minute, by moment and oldest first; and today, None before the first."""

    minute: Sequence[tuple[datetime, Drawn]] = ()
    day: Drawn | None = None

    def today(self, unit: str) -> int:
        return self.day.of(unit) if self.day else 0

    def plus(self, drawn: Drawn) -> "Used":
        """The same after so much more was drawn today."""
        return replace(self, day=Drawn(self.today(REQUESTS) + drawn.requests, self.today(TOKENS) + drawn.tokens))

    def last_minute(self, unit: str) -> int:
        return sum(drawn.of(unit) for _, drawn in self.minute)


def judge(claim: Claim, used: Mapping[str, Used], now: datetime) -> Refused | None:
    """Whether a claim does not fit as of `now`, by what each pattern has used; the limit that holds longest is named."""
    waits = [Refused(at=now, until=until, why=why) for until, why in _waits(claim, used, now)]
    return max(waits, key=lambda wait: wait.until.timestamp() if wait.until else float("inf"), default=None)


def span_of(field: str) -> str:
    """Whether a limit is one of a minute or of a day."""
    return field.rpartition("_")[2]


def unit_of(field: str) -> str:
    """What a limit counts, requests or tokens."""
    return field.partition("_")[0]


def is_low(left: int, limit: int) -> bool:
    """Whether less than a tenth of a limit is left: then a person should know."""
    return left * 10 < limit


def named(field: str, limit: int, pattern: str) -> str:
    """A limit in words: its limit of 1,000 requests a day."""
    whose = "its account's" if is_pattern(pattern) else "its"
    which = f" for {pattern}" if is_pattern(pattern) and pattern != WHOLE_ACCOUNT else ""
    return f"{whose} limit of {limit:,} {unit_of(field)} a {span_of(field)}{which}"


def _waits(claim: Claim, used: Mapping[str, Used], now: datetime) -> Iterator[tuple[datetime | None, str]]:
    """Every limit that is in the way: until when, and its name."""
    for quota in claim.quotas:
        drawn = used.get(quota.pattern, Used())
        for field, limit in quota.limits():
            asked = 1 if unit_of(field) == REQUESTS else claim.tokens
            name = named(field, limit, quota.pattern)
            if asked > limit:
                yield None, f"{name} is less than the {asked:,} tokens that this request may take"
            elif span_of(field) == "day" and drawn.today(unit_of(field)) + asked > limit:
                yield quota.day(now)[1], f"{name} is used up"
            elif span_of(field) == "minute" and (free := _free_at(drawn, unit_of(field), limit - asked)):
                yield free, f"{name} is used up"


def _free_at(used: Used, unit: str, room: int) -> datetime | None:
    """When no more than `room` is left of the last minute's; None when that is so already."""
    excess = used.last_minute(unit) - room
    if excess <= 0:
        return None
    for moment, drawn in used.minute:
        excess -= drawn.of(unit)
        if excess <= 0:
            return moment + MINUTE
    raise AssertionError("what was drawn is the sum of its moments")
