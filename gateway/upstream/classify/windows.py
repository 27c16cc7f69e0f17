"""The window that an error tells: how many tokens the model takes, as this endpoint serves it.

Only reads the number. Whether it is to be believed (smaller than the known window and than the request) is the learner's.
"""

import re

from gateway.upstream.classify.bodies import Said
from gateway.upstream.payload import mapping_of

SMALLEST, LARGEST = 256, 20_000_000
NUMBER = r"(\d[\d,]*)"

# One pattern, one alternative a provider's text; each has the number as its group.
_WINDOW = re.compile(
    "|".join(
        text.replace("#", NUMBER)
        for text in (
            r"maximum context length (?:is|of) #",
            r"tokens? > # maximum",
            r"exceed context limit: [\d,]+ \+ [\d,]+ > #",
            r"maximum number of tokens allowed \(#\)",
            r"with # maximum context length",
            r"prompt cannot exceed #",
            r"while limit is #",
            r"available context size \(# tokens\)",
            r"exceed context window of #",
            r"maximum model length of #",
            r"model's context length \(# tokens\)",
            r"max_new_tokens` must be <= #",
            r"must have less than # tokens",
            r"maximum prompt length is #",
            r"max input tokens: #",
            r"context length of only #",
            r"max size: # tokens",
            r"prompt token count of [\d,]+ exceeds the limit of #",
            r"context window limit \(#\)",
            r"model token limit: #",
            r"input length should be \[1, #\]",
        )
    ),
    re.IGNORECASE,
)
# Some providers quote the prompt back, and a prompt may say "maximum context length is 10 tokens".
_QUOTED = re.compile(r'"[^"]*(?:"|\Z)|`[^`]*(?:`|\Z)|“[^”]*(?:”|\Z)')
LONGEST_NAME = 60
_RATE = re.compile(r"per (?:minute|hour|day)|\([TR]P[MDH]\)", re.IGNORECASE)


def window_in(said: Said) -> int | None:
    """The window in tokens, or None where none is told, or no believable one."""
    if _RATE.search(said.message):
        return None
    n_ctx = mapping_of(mapping_of(said.payload).get("error")).get("n_ctx")
    if type(n_ctx) is int:
        return _believable(n_ctx)
    found = _WINDOW.search(_QUOTED.sub(_short_quote, said.message))
    if found is None:
        return None
    return _believable(int(next(group for group in found.groups() if group).replace(",", "")[:12]))


def _short_quote(found: re.Match[str]) -> str:
    return found.group() if len(found.group()) <= LONGEST_NAME else '""'


def _believable(tokens: int) -> int | None:
    return tokens if SMALLEST <= tokens <= LARGEST else None
