"""What calls tell about models and limits, and what follows: windows learned, cool-downs, retirement, alerts.

Values of calls come in, rows change; nothing here asks a provider or knows a panel.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitFound:
    """A limit as a reply told it: `field` is one of Fact's, `reset_seconds` counts from the call's end."""

    field: str
    limit: int | None = None
    remaining: int | None = None
    reset_seconds: float | None = None
    account: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """How one call of what an endpoint serves ended, as far as it tells about more than this call.

    `kind` is the call's error kind, empty for an answer; `request` tells one request from another (the panel's id);
    `tokens` is the estimate of prompt and asked-for answer. Seconds and tokens otherwise.
    """

    endpoint_id: int
    served_id: str
    _: KW_ONLY
    at: datetime
    request: str = ""
    kind: str = ""
    said: str = ""
    retry_after: float | None = None
    span: str = ""
    pattern: str = ""
    window: int | None = None
    output_limit: int | None = None
    tokens: int = 0
    limits: Sequence[LimitFound] = ()
