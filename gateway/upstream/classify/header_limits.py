"""The limits that a reply's headers tell, on answers and errors alike. A provider's names are a row.

Read for every call, so that it costs next to nothing where there are none.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from gateway.upstream.classify.limits import COUNTED, limit_told, together
from gateway.upstream.classify.waits import seconds_until
from gateway.upstream.contract import LimitTold, Span

# Where a header that names no span means another than OpenAI's, which is a minute.
HOSTS: Mapping[str, Mapping[str, Span]] = {"api.groq.com": {"requests": "day"}}
MINUTE = 60.0


class _Counted(NamedTuple):
    """What is counted, within which span if its name says so, and whether for the whole account."""

    what: str
    span: str
    account: bool


_PART = "(?P<part>limit|remaining|reset)"
# The name, the span that it means where it names none, and whether the limit is the whole account's.
_HEADERS = tuple(
    (re.compile(name), span, account)
    for name, span, account in (
        (rf"x-ratelimit-{_PART}-(?P<what>requests|tokens|req)(?:-(?P<span>minute|day))?", "", False),
        (rf"anthropic-ratelimit-(?P<what>requests|tokens)-{_PART}", "minute", False),
        (rf"modelscope-ratelimit-(?P<what>requests)-{_PART}", "day", True),
        (rf"modelscope-ratelimit-model-(?P<what>requests)-{_PART}", "day", False),
        (rf"x-trial-endpoint-(?P<what>call)-{_PART}", "minute", False),
    )
)


def limits_in_headers(headers: Mapping[str, str], *, url: str, now: float) -> tuple[LimitTold, ...]:
    """The limits told by headers, whatever the case of their names. `url` is where they are from, `now` Unix time."""
    parts: dict[_Counted, dict[str, str]] = {}
    for name in headers:
        meaning = _meaning(name)
        if meaning:
            counted, part = meaning
            parts.setdefault(counted, {})[part] = headers[name]
    if not parts:
        return ()
    spans = HOSTS.get(urlsplit(url).hostname or "", {})
    return together(_limit(counted, given, spans, now) for counted, given in parts.items())


@lru_cache(maxsize=512)
def _meaning(header: str) -> tuple[_Counted, str] | None:
    """What a header of this name counts and what it says of that: the same few names come with every reply."""
    lowered = header.lower()
    for pattern, span, account in _HEADERS:
        found = pattern.fullmatch(lowered)
        if found:
            given = found.groupdict()
            return _Counted(COUNTED.get(given["what"], given["what"]), given.get("span") or span, account), given["part"]
    return None


def _limit(counted: _Counted, given: Mapping[str, str], spans: Mapping[str, Span], now: float) -> LimitTold | None:
    span = counted.span or spans.get(counted.what, "")
    reset = seconds_until(given["reset"], now) if given.get("reset") else None
    if not span and reset is not None and reset > MINUTE:
        # Of no minute, and nobody says of which span.
        return None
    return limit_told(
        counted.what,
        span or "minute",
        limit=given.get("limit"),
        remaining=given.get("remaining"),
        reset=reset,
        account=counted.account,
    )
