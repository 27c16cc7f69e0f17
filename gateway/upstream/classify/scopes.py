"""Which limit was hit: for how long it holds, for which ids, and by whose clock its day ends. Rows of data, as rows.py.

Says when a limit is whole again; what an upstream says of the wait is waits.py.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gateway.upstream.classify.bodies import Said
from gateway.upstream.contract import Span

PACIFIC = "America/Los_Angeles"
# The ids that share a limit: an account's all, or OpenRouter's free ones.
ALL, FREE = "*", "*:free"


@dataclass(frozen=True, slots=True)
class Scope:
    """`text` is looked for in the words, `code` must be one of the codes whole. `zone` is where its day ends at midnight.

    `rolling`: it frees bit by bit, so that a short wait is meant; of others a short wait is another limit's.
    """

    span: Span
    text: re.Pattern[str] | None = None
    code: re.Pattern[str] | None = None
    pattern: str = ""
    zone: str = "UTC"
    rolling: bool = False

    def seconds_left(self, now: float) -> float | None:
        """How long until a day's or month's limit is whole again; None for other limits."""
        if self.span not in ("day", "month"):
            return None
        zone = _zone(self.zone)
        today = datetime.fromtimestamp(now, zone).date()
        # A month's 28 and four days are in the next one.
        end = today + timedelta(days=1) if self.span == "day" else (today.replace(day=28) + timedelta(days=4)).replace(day=1)
        return datetime.combine(end, time(), zone).timestamp() - now


def scope(span: Span, text: str = "", *, code: str = "", pattern: str = "", zone: str = "UTC", rolling: bool = False) -> Scope:
    return Scope(
        span,
        text=re.compile(text, re.IGNORECASE) if text else None,
        code=re.compile(code, re.IGNORECASE) if code else None,
        pattern=pattern,
        zone=zone,
        rolling=rolling,
    )


NO_SCOPE = scope("")

# The first that fits. OpenRouter's own texts before the rest: they speak of what credits would unlock "per day".
SCOPES = (
    scope("day", r"free-models-per-day", code="openrouter_free_tier_daily", pattern=FREE),
    scope("minute", r"free-models-per-min", pattern=FREE),
    # Gemini: a day's violation comes with a minute's retryDelay.
    scope("day", code=r"generate[\w-]*perday[\w-]*", zone=PACIFIC),
    scope("minute", code=r"generate[\w-]*perminute[\w-]*"),
    # Cloudflare's neurons, Hugging Face's credits, Cohere's trial.
    scope("day", r"daily free allocation", code="4006|3036", pattern=ALL),
    scope("month", r"monthly included credits|(?:calls|requests) ?(?:/|per) ?month", pattern=ALL),
    # OpenAI, Groq, GitHub Models.
    scope("day", r"\((?:RPD|TPD)\)|per 86400s|ByDay\b", rolling=True),
    scope("minute", r"\((?:RPM|TPM)\)|per 60s|ByMinute\b"),
    scope("month", r"\bper month\b|\bmonthly\b"),
    scope("day", r"\bper[ -]day\b|[a-z] ?/ ?day\b|\bdaily\b|today'?s quota"),
    scope("minute", r"\bper[ -]min(?:ute)?\b|[a-z] ?/ ?min(?:ute)?\b"),
    # No money where no model goes without (DeepSeek, Anthropic). Elsewhere the free ones go on answering.
    scope("", r"^insufficient balance\W*$|credit balance is too low", code="billing_hard_limit_reached", pattern=ALL),
)


def scope_of(said: Said) -> Scope:
    """The limit that a rate or money error speaks of."""
    return next((known for known in SCOPES if said.has(known.text, known.code)), NO_SCOPE)


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        # A machine without the database of zones: some hours early, and then told again.
        return UTC
