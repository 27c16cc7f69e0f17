"""A panel as Markdown: a heading, a section a seat, how to send a verdict. The pieces are the same streamed or not.

Answers are untrusted text: a code fence or another block that one leaves open is closed in its own section, so that it
swallows nothing after it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it import MarkdownIt

from evidence.links import link_path
from gateway.reply import AskedPanel, SeatAnswer

_PARSER = MarkdownIt("commonmark")
# What stands before a fence's marks, the marks, and what stands behind them.
_FENCE = re.compile(r"^([ \t>*+-]{0,20}(?:\d{1,3}[.)][ \t]{1,4})?)(`{3,}|~{3,})(.*)", re.MULTILINE)
# Spaces before a fence that is still one.
_MOST_INDENTED = 3
_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])[ \t]")
# HTML blocks that a blank line does not end, and what ends each.
_HTML = {
    "<--": "-->",
    "<pre": "</pre>",
    "<script": "</script>",
    "<style": "</style>",
    "<textarea": "</textarea>",
    "<?": "?>",
    "<[cdata[": "]]>",
    "<!": ">",
}
# At a line's start alone: within a line it ends with the paragraph.
_BEGINS_HTML = re.compile(rf"^ {{0,3}}({'|'.join(map(re.escape, _HTML))})", re.MULTILINE)
# The parser takes about 5 s a megabyte, and an answer's section is made in the event loop: longer ones are judged by eye.
LONGEST_PARSED = 6_000


def heading(panel: AskedPanel) -> str:
    """Who was asked, and who was not and why."""
    seats = f"{_count(panel.members, 'member')} + {_count(panel.explorers, 'explorer')}"
    lines = [f"# {panel.collection} · {panel.id} · {seats} · shape {panel.shape} ({panel.shape_by})"]
    if panel.skipped:
        lines.append("Not asked: " + "; ".join(f"{seat.seat} {seat.alias} ({seat.why})" for seat in panel.skipped))
    if panel.notice:
        lines.append(panel.notice)
    return "\n\n".join(lines) + "\n\n"


def sections(panel: AskedPanel, answers: Iterable[SeatAnswer]) -> Iterator[str]:
    """Every seat's section, in their order."""
    return (section(panel, answer) for answer in answers)


def section(panel: AskedPanel, answer: SeatAnswer) -> str:
    """One seat: who, its call id, status and seconds, then what it said or why it said nothing, and links to judge it."""
    nominated = " · nominated" if answer.nominated else ""
    cut = " · cut at its output limit" if answer.is_cut and answer.status == "ok" else ""
    facts = f"`{answer.call}` · {answer.status} · {answer.seconds:.1f} s{cut}"
    if answer.status == "ok":
        said = close_blocks(answer.answer.strip())
    else:
        kind = f" ({answer.error_kind})" if answer.error_kind else ""
        said = f"_{answer.status}{kind}: {answer.error or 'no text came'}_"
    return f"## {answer.seat} · {answer.alias}{nominated}\n\n{facts}\n\n{said}\n\n{_links(panel, answer)}"


def _links(panel: AskedPanel, answer: SeatAnswer) -> str:
    """Where a click judges an answer, if the collection wants that."""
    if not panel.links_url or answer.status != "ok":
        return ""
    useful, not_useful = (
        panel.links_url + link_path(answer.call, useful=useful, asked_at=panel.created) for useful in (True, False)
    )
    return f"Was it [useful]({useful}) or [not useful]({not_useful})?\n\n"


def closing(panel: AskedPanel) -> str:
    """How to send a verdict."""
    return (
        "---\n\nVerdict: check an answer against the real work, then "
        f'`POST {panel.verdict_url} {{"call": "<call id>", "useful": true, "note": "", "real": [], "false": []}}`\n'
    )


def every_answer(panel: AskedPanel, sections: Iterable[str]) -> str:
    """The whole reply, unmerged, of the seats' sections in seat order."""
    return heading(panel) + "".join(sections) + closing(panel)


def merged_closing(panel: AskedPanel, merger: SeatAnswer, answers: Sequence[SeatAnswer], *, passed_over: str = "") -> str:
    """Who merged what, and how to send a verdict; follows the merged answer."""
    merged = ", ".join(f"{answer.alias} (`{answer.call}`)" for answer in answers if answer.status == "ok")
    others = "; ".join(f"{answer.alias}: {answer.error or answer.status}" for answer in answers if answer.status != "ok")
    lines = [f"Merged by {merger.alias} (`{merger.call}`) from {merged}."]
    if passed_over:
        lines.append(passed_over)
    if others:
        lines.append(f"No answer from {others}.")
    if panel.notice:
        lines.append(panel.notice)
    told = closing(panel).removeprefix("---\n\n")
    return f"{closer(merger.answer.strip())}\n\n---\n\n" + " ".join(lines) + f"\n\n{_links(panel, merger)}{told}"


def unmerged(panel: AskedPanel, note: str, answers: Sequence[SeatAnswer]) -> str:
    """Every answer, led by why they are not merged."""
    return f"Not merged: {note}\n\n{every_answer(panel, sections(panel, answers))}"


def closer(told: str) -> str:
    """What to add to a text that has been told already, so that it swallows nothing that is said after it."""
    closed = close_blocks(told)
    return closed.removeprefix(told) if closed.startswith(told) else ""


def close_blocks(text: str) -> str:
    """Return `text` with whatever block it leaves open closed, so that a heading after it is a heading.

    A parser judges where that is affordable: a fence in a list ends with its item, and closing it again would open another.
    """
    if not any(marks in text for marks in ("```", "~~~", "<")):
        return text
    open_fence, html = _open_fence(text), _open_html(text)
    if len(text) > LONGEST_PARSED:
        return "\n".join([text, *filter(None, [open_fence]), *html])
    marks = [found[2] for found in _FENCE.finditer(text)]
    ticks, tildes = (max((mark for mark in marks if mark[0] == kind), key=len, default="") for kind in "`~")
    closers = [*dict.fromkeys(filter(None, (open_fence, ticks, tildes))), *html]
    if not (closers or "```" in text or "~~~" in text) or _ends_clean(text):
        return text
    for end in closers:
        if _ends_clean(f"{text}\n{end}"):
            return f"{text}\n{end}"
    # Nothing closes it from outside: the whole text is shown as it was written.
    fence = "`" * (max(len(ticks), 2) + 1)
    return f"{fence}\n{text}\n{fence}"


def _open_fence(text: str) -> str:
    """The marks of the fence that a line-by-line reading leaves open, if it leaves one.

    Code may hold fences with a language behind them, which close nothing; code within a line may begin with a fence's marks.
    """
    text = text.replace("\r", "\n")
    opened: re.Match[str] | None = None
    for found in _FENCE.finditer(text):
        if opened is None:
            opened = None if found[2][0] == "`" and "`" in found[3] else found
        elif _closes(found, opened):
            opened = None
    return opened[2] if opened and not _ends_by_itself(text, opened) else ""


def _closes(found: re.Match[str], opened: re.Match[str]) -> bool:
    at_margin = not found[1].strip() and len(found[1]) <= _MOST_INDENTED
    return found[2].startswith(opened[2]) and not found[3].strip() and (at_margin or bool(opened[1]))


def _ends_by_itself(text: str, opened: re.Match[str]) -> bool:
    """Whether a fence stands in a list or a quotation, which a heading after it ends."""
    before = opened[1]
    if not before or before.strip() or len(before) > _MOST_INDENTED:
        return bool(before)
    at_margin = (line for line in reversed(text[: opened.start()].split("\n")) if line[:1].strip())
    return bool(_ITEM.match(next(at_margin, "")))


def _open_html(text: str) -> list[str]:
    """What would end each HTML block that may be open at the end."""
    if "<" not in text:
        return []
    # A comment and CDATA begin like a declaration, and are none.
    lowered = text.lower().replace("\r", "\n").replace("<!--", "<--").replace("<![cdata[", "<[cdata[")
    begun = {found[1]: found.start() for found in _BEGINS_HTML.finditer(lowered)}
    return [end for start, end in _HTML.items() if begun.get(start, -1) > lowered.rfind(end)]


def _ends_clean(text: str) -> bool:
    """Whether a heading after `text` is read as one, at the outermost level."""
    tokens = _PARSER.parse(f"{text}\n\n## next\n")
    return len(tokens) > 2 and tokens[-3].type == "heading_open" and tokens[-3].level == 0 and tokens[-2].content == "next"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
