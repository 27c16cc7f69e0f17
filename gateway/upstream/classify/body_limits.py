"""The limits that a rate error's body tells: in words, by a quota's id, or in headers that only its words explain."""

import re
from collections.abc import Iterator, Mapping

from gateway.upstream.classify.bodies import Said
from gateway.upstream.classify.limits import count_in, limit_told, together
from gateway.upstream.classify.scopes import Scope
from gateway.upstream.classify.waits import seconds_until
from gateway.upstream.contract import LimitTold
from gateway.upstream.payload import mapping_of, text_of, unwrapped

_NUMBER = r"\d{1,15}(?:,\d{3}){0,4}"
# OpenAI and Groq, GitHub Models, Anthropic and Cohere. What counts input alone is no limit of all tokens.
_TEXTS = tuple(
    re.compile(text.replace("#", _NUMBER), re.IGNORECASE)
    for text in (
        r"\b(?P<what>requests|tokens) per (?P<span>min|minute|day) \(\w{3}\): limit (?P<limit>#)(?:, used (?P<used>#))?",
        r"rate limit of (?P<limit>#) (?P<what>)per (?P<span>60|86400)s",
        r"\blimit(?:ed to| of) (?P<limit>#) (?P<what>requests|tokens|api calls|calls) ?(?:per|/) ?(?P<span>minute|min|day)\b",
    )
)
# Gemini.
_QUOTA = re.compile(r"generate\w{0,60}?(?P<what>requests|tokens)\w{0,60}?per(?P<span>minute|day)", re.IGNORECASE)


def limits_in_body(said: Said, headers: Mapping[str, str], *, scope: Scope, now: float) -> tuple[LimitTold, ...]:
    """The limits told; `scope` is that of the one that was hit, `headers` are by lower-case names, `now` is Unix time."""
    # How long the day still is, where that is when its limit is whole again.
    left = None if scope.rolling else scope.seconds_left(now)
    return together((*_in_quotas(said, left), *_in_words(said, scope, left), *_in_bare_headers(said, headers, scope, now)))


def _in_quotas(said: Said, day_left: float | None) -> Iterator[LimitTold | None]:
    details = _items(mapping_of(unwrapped(said.payload).get("error")).get("details"))
    for violation in (mapping_of(one) for detail in details for one in _items(mapping_of(detail).get("violations"))):
        name = text_of(violation.get("quotaId"))
        quota = _QUOTA.match(name)
        if quota:
            yield limit_told(
                quota["what"],
                quota["span"],
                limit=violation.get("quotaValue"),
                # Tokens may be left, only not enough of them.
                remaining=0 if quota["what"].lower() == "requests" else None,
                reset=day_left if quota["span"].lower() == "day" else None,
                account="permodel" not in name.lower(),
            )


def _in_words(said: Said, scope: Scope, day_left: float | None) -> Iterator[LimitTold | None]:
    for found in (found for pattern in _TEXTS for found in pattern.finditer(said.message)):
        given = found.groupdict()
        limit, used = count_in(given["limit"]), count_in(given.get("used"))
        yield limit_told(
            given["what"] or "requests",
            given["span"],
            limit=limit,
            remaining=None if limit is None or used is None else max(limit - used, 0),
            reset=day_left if given["span"].lower() == scope.span == "day" else None,
        )


def _in_bare_headers(said: Said, headers: Mapping[str, str], scope: Scope, now: float) -> Iterator[LimitTold | None]:
    """OpenRouter's X-RateLimit-Limit, in the body or on the reply: requests within the span that the words name."""
    told = mapping_of(mapping_of(unwrapped(said.payload).get("error")).get("metadata")).get("headers")
    for given in ({str(name).lower(): value for name, value in mapping_of(told).items()}, headers):
        yield limit_told(
            "requests",
            scope.span,
            limit=given.get("x-ratelimit-limit"),
            remaining=given.get("x-ratelimit-remaining"),
            reset=seconds_until(str(given.get("x-ratelimit-reset", "")), now),
            account=bool(scope.pattern),
        )


def _items(value: object) -> list[object]:
    return value[:10] if isinstance(value, list) else []
