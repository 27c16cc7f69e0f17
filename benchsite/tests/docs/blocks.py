"""The blocks of a Markdown document, and which of them are run; running them is another module's.

How a block is marked stands in docs/README.md, for whoever writes one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUN = ("sh", "python", "js")
OUTPUT = ("text", "json", "toml", "markdown")
NODE = "js"
REASONS = (
    "starts the server",
    "needs an account",
    "needs a network",
    "needs root",
    "needs another program",
    "takes minutes",
)


@dataclass(frozen=True)
class Block:
    """One fenced block: `first` and `last` are the indexes of its lines between the fences, `mark` what is in brackets."""

    language: str
    mark: str
    first: int
    last: int
    text: str

    @property
    def runs(self) -> bool:
        return self.language in RUN and not self.mark.startswith(("not run: ", "from "))

    @property
    def in_sdks(self) -> bool:
        """Whether it needs what `make sdks` installs, and is run there alone."""
        return self.language == NODE or self.mark == "make sdks"


@dataclass(frozen=True)
class Example:
    """A block that is run, and the one right behind it that shows what it printed."""

    block: Block
    shown: Block | None


def documents() -> list[Path]:
    """README.md and everything beneath docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str) -> Iterator[Block]:
    """Every fenced block in order, indented ones too. A fence inside a longer fence is text."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opened = re.match(r"^( *)(`{3,})(\w*) *(?:\((.*)\))?$", lines[at])
        if opened:
            end = next(number for number in range(at + 1, len(lines)) if lines[number] == opened[1] + opened[2])
            inside = (line.removeprefix(opened[1]) for line in lines[at + 1 : end])
            yield Block(opened[3], opened[4] or "", at + 1, end, "\n".join(inside))
            at = end
        at += 1


def examples(text: str) -> list[Example]:
    """What is run, with what it shows: the next block, when nothing but empty lines is between."""
    lines, found = text.splitlines(), list(blocks(text))
    paired = []
    for block, following in zip_longest(found, found[1:]):
        beside = following and following.language in OUTPUT and not any(lines[block.last + 1 : following.first - 1])
        if block.runs:
            paired.append(Example(block, following if beside else None))
    return paired


def server_of(text: str) -> list[str]:
    """What a document says of its server in `<!-- server: core BENCHWARMERS_REQUIRE_KEYS=1 -->`: a bench, then variables."""
    said = re.search(r"^<!-- server: (.+) -->$", text, re.MULTILINE)
    return said[1].split() if said else ["starter"]
