"""How one call ended, as far as it tells about more than itself: the value that comes in."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime

from collections_app.services.quotas import LimitTold


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
    limits: Sequence[LimitTold] = ()
