"""A panel as Markdown: a heading, a section a seat, how to send a verdict. The pieces are the same streamed or not.

Answers are untrusted text: a code fence that one leaves open is closed in its own section, so that it swallows
nothing after it.
"""

import re
from collections.abc import Sequence

from gateway.panel.seating import Seat
from gateway.reply import SeatAnswer, SkippedSeat

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


def heading(title: str, *, seats: Sequence[Seat], skipped: Sequence[SkippedSeat], shape: str) -> str:
    """Who was asked, and who was not and why. `title` names collection and panel, `shape` says how it was chosen."""
    members = sum(seat.name.startswith("member") for seat in seats)
    explorers = len(seats) - members
    lines = [f"# {title} · {_count(members, 'member')} + {_count(explorers, 'explorer')} · shape {shape}"]
    if skipped:
        lines.append("Not asked: " + "; ".join(f"{seat.seat} {seat.alias} ({seat.why})" for seat in skipped))
    shared = frozenset.intersection(*(seat.model.families for seat in seats))
    if len(seats) > 1 and shared:
        lines.append(
            f"Every seat is of one family ({', '.join(sorted(shared))}): settings of one model are for trying the bench, "
            "not a second opinion."
        )
    return "\n\n".join(lines) + "\n\n"


def section(answer: SeatAnswer) -> str:
    """One seat: who, its call id, status and seconds, then what it said or why it said nothing."""
    nominated = " · nominated" if answer.nominated else ""
    facts = f"`{answer.call}` · {answer.status} · {answer.seconds:.1f} s"
    if answer.status == "ok":
        said = close_fence(answer.answer.strip())
    else:
        kind = f" ({answer.error_kind})" if answer.error_kind else ""
        said = f"_{answer.status}{kind}: {answer.error or 'no text came'}_"
    return f"## {answer.seat} · {answer.alias}{nominated}\n\n{facts}\n\n{said}\n\n"


def closing(verdict_url: str) -> str:
    """How to send a verdict."""
    return (
        "---\n\nVerdict: check an answer against the real work, then "
        f'`POST {verdict_url} {{"call": "<call id>", "useful": true, "note": "", "real": [], "false": []}}`\n'
    )


def close_fence(text: str) -> str:
    """Return `text` with its last code fence closed if it was left open. A fence ends at a bare one as long or longer."""
    opened = ""
    for found in _FENCE.finditer(text):
        marks, rest = found[1], found[2].strip()
        if not opened:
            # An info string with a backtick makes a line of inline code, not a fence.
            opened = "" if marks[0] == "`" and "`" in rest else marks
        elif marks[0] == opened[0] and len(marks) >= len(opened) and not rest:
            opened = ""
    return f"{text}\n{opened}" if opened else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
