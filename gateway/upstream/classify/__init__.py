"""What an upstream's refusal or failure means: its kind, its words for people, its wait, what it tells of windows and limits.

Reads replies of every provider by rows of data (rows.py, scopes.py, windows.py, limits.py), so that a new text is a new
row. Decides nothing: who cools down or learns a window is for others.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from gateway.redact import redact
from gateway.upstream.classify.bodies import Said, said_in, what_is_said
from gateway.upstream.classify.body_limits import limits_in_body
from gateway.upstream.classify.echoes import CUT_OUT, without_echo
from gateway.upstream.classify.limits import with_limits
from gateway.upstream.classify.rows import kind_of
from gateway.upstream.classify.scopes import NO_SCOPE, scope_of
from gateway.upstream.classify.waits import wait_for
from gateway.upstream.classify.windows import output_limit_in, window_in
from gateway.upstream.contract import ErrorKind, UpstreamError

WAITING_HELPS: frozenset[ErrorKind] = frozenset({"rate_limited", "overloaded", "unavailable", "payment_required"})
# A request may be too large for what a minute allows.
LIMITED: frozenset[ErrorKind] = frozenset({"rate_limited", "payment_required", "context_too_long"})
LONGEST_WORDS = 2000
_SPACE = re.compile(r"\s+")


def read_error(status: int, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> UpstreamError:
    """Read an error reply, or a 200 that is none of an answer. `now` is Unix time; the words are redacted, on one line."""
    return _error(what_is_said(body), status=status, headers=headers, now=now)


def error_in(payload: Any, *, status: int = 200, now: float | None = None) -> UpstreamError:
    """Read an error out of JSON that came as a reply or as an event of a stream."""
    return _error(said_in(payload), status=status, headers={}, now=now)


def _error(said: Said, *, status: int, headers: Mapping[str, str], now: float | None) -> UpstreamError:
    # By name, not by item: of a header that came twice the items are two.
    lowered = {name.lower(): headers[name] for name in headers}
    moment = time.time() if now is None else now
    said = replace(said, message=_plain(said.message))
    kind = kind_of(said, status)
    scope = scope_of(said) if kind in LIMITED else NO_SCOPE
    error = UpstreamError(
        _words(said, status),
        kind=kind,
        status=status,
        retry_after=wait_for(lowered, said, scope, moment) if kind in WAITING_HELPS else None,
        window=window_in(said) if kind == "context_too_long" else None,
        output_limit=output_limit_in(said) if kind == "output_limit" else None,
        span=scope.span,
        pattern=scope.pattern,
    )
    return with_limits(error, limits_in_body(said, lowered, scope=scope, now=moment) if kind in LIMITED else ())


def _plain(message: str) -> str:
    """The provider's own words, on one line: judged as they are shown."""
    # Redacted before it is cut: of a key cut in half, half would stay.
    words = redact(message).strip()
    if len(words) > LONGEST_WORDS:
        # Of a number cut in half, another number would stay.
        words = words[:LONGEST_WORDS].rpartition(" ")[0] or words[:LONGEST_WORDS]
    return _SPACE.sub(" ", without_echo(words)).strip()


def _words(said: Said, status: int) -> str:
    if said.page:
        return (
            f"a web page came instead of an answer: {said.message}" if said.message else "a web page came instead of an answer"
        )
    return said.message if said.message.strip(f"{CUT_OUT} .") else f"{_named(status)}, without a word of explanation"


def _named(status: int) -> str:
    if status < 400:
        return "an error"
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"
