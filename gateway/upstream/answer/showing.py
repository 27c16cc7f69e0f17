"""An answer as it comes, without the reasoning that a model writes into it: what may be shown before the whole is there.

Knows only beginnings: what is still held back at the end is in the whole answer, which thinking.py tells apart.
"""

import re

from gateway.upstream.answer.thinking import marks_at, past_space

# Longer than any mark with which a model opens its reasoning, so that half a mark is never taken for the answer.
LONGEST_MARK = 40
# What stands between a channel's mark and its message is shorter.
LONGEST_HEADER = 200
MESSAGE = "<|message|>"
_FINAL = re.compile(r"<\|channel\|>\s*+final\b[^<]*+(?:<\|constrain\|>[^<]*+)?\Z")
_BARE_CHANNEL = re.compile(r"analysis(?=[A-Z])")


class AnswerAsItComes:
    """One stream's text, shown from where its answer begins.

    Of a thought only its end is awaited and nothing kept, so that a long one costs no more than its length.
    """

    def __init__(self) -> None:
        self._held = ""
        self._awaited = ""
        self._at_start = True
        self._shows = False
        self._in_channel = False
        self._over = False

    def after(self, piece: str) -> str:
        """What can be shown now that this piece has come."""
        if self._shows:
            return piece
        if self._over or not piece:
            return ""
        text = self._held + piece
        return self._of_channel(text) if self._in_channel else self._beginning(text)

    def _beginning(self, text: str) -> str:
        at = self._answer_at(text)
        if self._awaited:
            self._held = text[max(at, len(text) - LONGEST_HEADER) :]
            return ""
        if self._in_channel:
            return self._of_channel(text[at:])
        self._shows = len(text) - at >= LONGEST_MARK
        self._held = "" if self._shows else text[at:]
        return text[at:] if self._shows else ""

    def _answer_at(self, text: str) -> int:
        """Where the answer may begin, past every thought that has ended; or where to read on when one has not."""
        at = 0
        while True:
            if self._awaited:
                end = text.find(self._awaited, at)
                if end < 0:
                    return at
                header, at = text[max(at, end - LONGEST_HEADER) : end], end + len(self._awaited)
                self._in_channel = self._awaited == MESSAGE and bool(_FINAL.search(header))
                if self._awaited == MESSAGE and not self._in_channel:
                    continue
                self._awaited = ""
            at = past_space(text, at)
            opening, closing = ("", "") if self._in_channel else self._marks_at(text, at)
            if not closing:
                return at
            self._at_start, self._awaited = False, closing
            at += len(opening)

    def _marks_at(self, text: str, at: int) -> tuple[str, str]:
        if self._at_start and text.startswith(("<|start|>assistant", "<|channel|>"), at):
            return "", MESSAGE
        if self._at_start and _BARE_CHANNEL.match(text, at):
            return "analysis", "assistantfinal"
        return marks_at(text, at) or ("", "")

    def _of_channel(self, text: str) -> str:
        """The final message as far as it has come: the next mark ends it."""
        said, mark, _ = text.partition("<|")
        self._over = bool(mark)
        self._held = "<" if said.endswith("<") and not mark else ""
        return said.removesuffix("<") if self._held else said
