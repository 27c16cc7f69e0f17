"""Reasoning that a model wrote into its answer, told apart from it, at no more cost than the text is long.

Reads whole answers; what of a stream is shown before it ends is showing.py.
"""

import re

# How models mark where their reasoning begins and ends.
MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)
# gpt-oss: channels, of which only the final one is for the reader.
_CHANNEL = re.compile(
    r"<\|channel\|>\s*+(\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?<\|message\|>(.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
_CHANNELS = re.compile(r"\s*+(?:<\|start\|>assistant\s*+)?<\|channel\|>")
# The same where a server left the marks out and their names in.
_BARE_CHANNELS = re.compile(r"\s*+analysis(?=[A-Z\s])(.*?)assistantfinal(.*)", re.DOTALL)
_NOT_SPACE = re.compile(r"\S")
# A template that opens the reasoning itself leaves only the closing mark, at the start or the end of a line: an answer
# that speaks of the mark has it between other characters.
_CLOSING = r"(?:</think(?:ing)?>|◁/think▷|\[/THINK\])"
_CLOSED = re.compile(rf"(.*?)(?:(?:\A|\n)[ \t]*+{_CLOSING}|(?<!`){_CLOSING}[ \t]*+(?=\n|\Z))(.*)", re.DOTALL)


def split_thinking(text: str, *, apart: bool = False) -> tuple[str, str]:
    """Return (reasoning, answer). `apart`: the reasoning came in a field of its own, so a closing mark alone is text."""
    if _CHANNELS.match(text):
        return _split_channels(text)
    bare = _BARE_CHANNELS.match(text)
    if bare:
        return bare[1].strip(), bare[2].lstrip()
    thought, answer = _split_marks(text)
    if thought or apart or answer is not text:
        return thought, answer
    closed = _CLOSED.match(text) if "/think" in text or "/THINK" in text else None
    if closed is None or closed[1].count("```") % 2 or any(opening in closed[1] for opening, _ in MARKS):
        return "", text
    return closed[1].strip(), closed[2].lstrip()


def _split_marks(text: str) -> tuple[str, str]:
    """Take every marked passage off the start; one that never ends is reasoning to the end."""
    thoughts = []
    at = past_space(text, 0)
    while marks := marks_at(text, at):
        start = at + len(marks[0])
        end = text.find(marks[1], start)
        thoughts.append(text[start : end if end >= 0 else None].strip())
        at = past_space(text, end + len(marks[1]) if end >= 0 else len(text))
    return "\n\n".join(filter(None, thoughts)), text[at:] if thoughts else text


def marks_at(text: str, at: int) -> tuple[str, str] | None:
    """The marks of a thought that begins here."""
    return next((marks for marks in MARKS if text.startswith(marks[0], at)), None)


def past_space(text: str, at: int) -> int:
    """Where the next character stands that is none of white space."""
    found = _NOT_SPACE.search(text, at)
    return found.start() if found else len(text)


def _split_channels(text: str) -> tuple[str, str]:
    said: dict[bool, list[str]] = {True: [], False: []}
    for name, message in _CHANNEL.findall(text):
        said[name == "final"].append(message.strip())
    return "\n\n".join(said[False]), "\n\n".join(said[True])
