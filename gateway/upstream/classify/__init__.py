"""What an upstream's refusal or failure means: its kind, its words for people, its wait, the window it tells.

Reads replies of every provider by rows of data (rows.py, windows.py), so that a new text is a new row. Decides nothing:
who cools down or learns a window is for others.
"""

import re
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from gateway.redact import redact
from gateway.upstream.classify.bodies import Said, said_in, what_is_said
from gateway.upstream.classify.rows import kind_of
from gateway.upstream.classify.waits import wait_in
from gateway.upstream.classify.windows import window_in
from gateway.upstream.contract import ErrorKind, UpstreamError

WAITING_HELPS: frozenset[ErrorKind] = frozenset({"rate_limited", "overloaded", "unavailable", "payment_required"})
LONGEST_WORDS = 2000
_SPACE = re.compile(r"\s+")


def read_error(status: int, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> UpstreamError:
    """Read an error reply, or a 200 that is none of an answer. `now` is Unix time; the words are redacted, on one line."""
    return _error(what_is_said(body), status=status, headers=headers, now=now)


def error_in(payload: Any, *, status: int = 200, now: float | None = None) -> UpstreamError:
    """Read an error out of JSON that came as a reply or as an event of a stream."""
    return _error(said_in(payload), status=status, headers={}, now=now)


def _error(said: Said, *, status: int, headers: Mapping[str, str], now: float | None) -> UpstreamError:
    lowered = {name.lower(): value for name, value in headers.items()}
    kind = kind_of(said, status)
    wait = wait_in(lowered, said, time.time() if now is None else now) if kind in WAITING_HELPS else None
    return UpstreamError(
        _words(said, status),
        kind=kind,
        status=status,
        retry_after=wait,
        window=window_in(said) if kind == "context_too_long" else None,
    )


def _words(said: Said, status: int) -> str:
    # Redacted before it is cut: of a key cut in half, half would stay.
    message = _SPACE.sub(" ", redact(said.message)).strip()[:LONGEST_WORDS]
    if said.page:
        return f"a web page came instead of an answer: {message}" if message else "a web page came instead of an answer"
    return message or f"{_named(status)}, without a word of explanation"


def _named(status: int) -> str:
    if status < 400:
        return "an error"
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"
