"""What an error repeats of the request: words of the caller's, which say nothing about the model.

Some providers quote the prompt back, and a prompt may say "maximum context length is 4096 tokens". Only what was asked
tells such words from the provider's own.
"""

import re
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar

from gateway.chat import ImagePart, Message

# What this call asked. Errors are read deep in a stream, where nothing else is known of the request.
_asked: ContextVar[Sequence[Message]] = ContextVar("asked", default=())

# A quotation stands between marks of punctuation. What a clause between two says, a prompt may say as well by chance, if it
# is short or only two words ("insufficient balance").
SHORTEST = 20
FEWEST_WORDS = 3
CUT_OUT = "…"
# Escaped ends of lines are marks too.
_MARK = re.compile(r"(\\[nrt]|[.,;:!?\"'`()\[\]{}<>|=*#~\\\u2018-\u201f\u2026])")


@contextmanager
def asked(messages: Sequence[Message]) -> Iterator[None]:
    """Let errors that are read in here be told from what these messages say."""
    token = _asked.set(messages)
    try:
        yield
    finally:
        _asked.reset(token)


def without_echo(words: str) -> str:
    """Return an error's words, on one line, without what they repeat of the request."""
    if not _asked.get():
        return words
    pieces = _MARK.split(_on_one_line(words))
    echoes = _echoes(pieces)
    inside = echoes | {at for at in range(1, len(pieces), 2) if {at - 1, at + 1} <= echoes}
    kept = (CUT_OUT if at in inside else piece for at, piece in enumerate(pieces) if not {at - 1, at} <= inside)
    return "".join(kept)


def is_echo(words: str) -> bool:
    """Whether the request itself says these very words."""
    words = _on_one_line(words)
    return any(words in text for text in _texts())


def _texts() -> list[str]:
    return [_on_one_line(part.text) for message in _asked.get() for part in message.parts if not isinstance(part, ImagePart)]


def _on_one_line(text: str) -> str:
    """Some repeat a request with its line ends and spaces, some without."""
    return " ".join(text.split())


def _echoes(pieces: Sequence[str]) -> Set[int]:
    """Which of the pieces, every other of which is a mark, repeat the request."""
    texts = _texts()

    def repeats(clause: str) -> bool:
        return any(clause.strip() in text for text in texts)

    clauses = range(0, len(pieces), 2)
    echoes = {at for at in clauses if _is_telling(pieces[at].strip()) and repeats(pieces[at])}
    # What stands beside a repeated clause and is the request's too belongs to it, however short.
    for order, before in ((clauses, -2), (reversed(clauses), 2)):
        for at in order:
            if at + before in echoes and repeats(pieces[at]):
                echoes.add(at)
    return echoes


def _is_telling(clause: str) -> bool:
    return len(clause) >= SHORTEST and len(clause.split()) >= FEWEST_WORDS
