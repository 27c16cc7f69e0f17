"""The window or the output limit that an error tells: how many tokens the model takes or writes, as this endpoint serves it.

Only reads the number. Whether it is to be believed (smaller than the known window and than the request) is the learner's.
"""

import re
from collections.abc import Iterable

from gateway.upstream.classify.bodies import Said
from gateway.upstream.classify.echoes import is_echo
from gateway.upstream.payload import mapping_of, unwrapped

SMALLEST, LARGEST = 256, 20_000_000
NUMBER = r"(\d{1,15}(?:,\d{3}){0,4})"


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """One pattern, one alternative a provider's text; each has the number, #, as its group."""
    return re.compile("|".join(text.replace("#", NUMBER) for text in texts), re.IGNORECASE)


_WINDOW = _any_of(
    (
        r"maximum context length (?:is|of) #",
        r"maximum context length \(#\)",
        r"maximum allowed input length of #",
        r"tokens? > # maximum",
        r"exceed context limit: [\d,]{1,15} \+ [\d,]{1,15} > #",
        r"maximum number of tokens allowed \(#\)",
        r"with # maximum context length",
        r"prompt cannot exceed #",
        r"while limit is #",
        r"available context size \(# tokens\)",
        r"configured context size is #",
        r"exceed context window of #",
        r"maximum model length of #",
        r"model's context length \(# tokens\)",
        r"max_new_tokens` must be <= #",
        r"must have less than # tokens",
        r"maximum prompt length is #",
        r"max input tokens: #",
        r"context length of only #",
        r"max size: # tokens",
        r"prompt token count of [\d,]{1,15} exceeds the limit of #",
        r"context window limit \(#\)",
        r"model token limit: #",
        r"input length should be \[1, #\]",
    )
)
_OUTPUT = _any_of(
    (
        r"at most # (?:completion|output) tokens",
        r"max_tokens: [\d,]{1,15} > #",
        r"max_tokens`? must be less than or equal to `?#",
        r"range of max_tokens (?:is|should be) \[\d{1,9}, ?#\]",
    )
)
# What a provider quotes is somebody else's, unless it is short: a name.
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|`[^`]*(?:`|\Z)|“[^”]*(?:”|\Z)', re.DOTALL)
LONGEST_NAME = 60
_RATE = re.compile(r"per (?:minute|min|hour|day)\b|\([TR]P[MDH]\)", re.IGNORECASE)


def window_in(said: Said) -> int | None:
    """The window in tokens, or None where none is told, or no believable one."""
    if _RATE.search(said.message):
        return None
    n_ctx = mapping_of(unwrapped(said.payload).get("error")).get("n_ctx")
    return _believable(n_ctx) if type(n_ctx) is int else _told(_WINDOW, said)


def output_limit_in(said: Said) -> int | None:
    """The most tokens that the model writes, or None where no believable number is told."""
    return _told(_OUTPUT, said)


def _told(pattern: re.Pattern[str], said: Said) -> int | None:
    for found in pattern.finditer(_QUOTED.sub(_short_quote, said.message)):
        if not is_echo(found[0]):
            return _believable(int(next(group for group in found.groups() if group).replace(",", "")))
    return None


def _short_quote(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) <= LONGEST_NAME else '""'


def _believable(tokens: int) -> int | None:
    return tokens if SMALLEST <= tokens <= LARGEST else None
