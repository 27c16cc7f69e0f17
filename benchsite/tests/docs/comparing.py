"""Whether a command printed what its document shows: ids, keys, dates and how long things took apart."""

import re

PANEL = r"p\d{8}-\d{6}-[0-9a-f]{4}"
KEY = r"bwk_[A-Za-z0-9_-]{32,}"
ANY_LINES = "..."
# What is never the same twice, and what stands for it in a comparison.
_VARIES = (
    (PANEL, "<panel>"),
    (KEY, "<key>"),
    (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b", "<time>"),
    (r"\b\d+(?:\.\d+)? (?:s|ms|seconds)\b", "<seconds>"),
    (r'("(?:\w*seconds|created|created_at|completed_at|\w*_duration)": ?)[\d.]+', r"\1<number>"),
    (r"\banswer-[0-9a-f]{12}\b", "<mark>"),
    (r"\b([a-z]+[-_])?[0-9a-f]{16,}\b", "<id>"),
)


def same(shown: str, printed: str) -> bool:
    """Whether they are alike. A line `...` of what is shown stands for any lines; streamed sections may come in any order."""
    wanted, got = plain(shown), plain(printed)
    if ANY_LINES in wanted:
        parts = "\n".join(wanted).split(ANY_LINES)
        return re.fullmatch(r"(?s:.*)".join(map(re.escape, parts)), "\n".join(got)) is not None
    return wanted == got or ("\n## " in printed and sorted(wanted) == sorted(got))


def plain(text: str) -> list[str]:
    """The lines that are compared."""
    for pattern, stand_in in _VARIES:
        text = re.sub(pattern, stand_in, text)
    return [line.rstrip() for line in text.strip().splitlines()]


def names(shown: str, printed: str) -> dict[str, str]:
    """The panels and keys that a document shows, as this run's own: later commands of the document mean these."""
    found = [list(dict.fromkeys(re.findall(f"{PANEL}|{KEY}", text))) for text in (shown, printed)]
    return dict(zip(*found, strict=False))
