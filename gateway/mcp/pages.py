"""A long text in pages: bounded, always cut alike, and put together again they are the text, character by character.

Knows nothing of what the text says.
"""

from collections.abc import Iterator

# About 10,000 tokens: what agents' clients take from one tool without cutting it themselves.
PAGE_CHARACTERS = 40_000
# How far back from a page's bound a line's end is looked for.
_LAST_LINES = 2_000


def pages(text: str, longest: int = PAGE_CHARACTERS) -> list[str]:
    """Return `text` in pages of `longest` characters or fewer, cut behind a line's end where one is near; at least one.

    A character is a code point, so that none is ever cut in two.
    """
    return list(_cut(text, longest)) or [""]


def _cut(text: str, longest: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + longest
        if end < len(text):
            line_end = text.rfind("\n", end - min(_LAST_LINES, longest // 2), end)
            end = line_end + 1 if line_end >= 0 else end
        yield text[start:end]
        start = end
