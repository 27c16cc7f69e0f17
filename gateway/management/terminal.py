"""Talking to whoever runs a command: lines, tables, what is under way, questions. No text from elsewhere steers a terminal."""

import sys
from collections.abc import Iterator, Sequence
from getpass import getpass

from django.core.management.base import OutputWrapper

from collections_app.management.base import write_over

WIDEST = 60


class Terminal:
    """`asks`: somebody is there to answer. What is under way is told on standard error, where that is a terminal."""

    def __init__(self, out: OutputWrapper, err: OutputWrapper, *, asks: bool, quiet: bool = False) -> None:
        self._out, self._err = out, err
        self._quiet = quiet
        self.asks = asks

    def say(self, line: str = "") -> None:
        if not self._quiet:
            self._out.write(line)

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        for line in columns([heads, *rows]):
            self.say(f"  {line}")

    def under_way(self, line: str) -> None:
        """One line that the next one overwrites; empty: none."""
        write_over(self._err, printable(line, 100))

    def confirm(self, question: str) -> bool:
        """Yes unless somebody says no; yes where nobody is there to say so."""
        return not self.asks or self.ask(f"{question} [Y/n] ").lower() in ("", "y", "yes")

    def ask(self, question: str) -> str:
        """What somebody types. Raises KeyboardInterrupt."""
        self.under_way("")
        try:
            return input(question).strip()
        except EOFError:
            return ""

    def ask_secret(self, question: str) -> str:
        """What somebody types unseen."""
        return getpass(question).strip()


def somebody_is_there() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def printable(text: str, longest: int = WIDEST) -> str:
    """`text` as one line that moves no cursor and turns no text around, cut where it is too long."""
    shown = "".join(character if character.isprintable() else f"[U+{ord(character):04X}]" for character in text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as lines, each column as wide as its widest cell; the last one is not filled up."""
    cells = [[printable(cell, 300 if last else WIDEST) for cell, last in _with_last(row)] for row in rows]
    widths = [max(len(row[number]) for row in cells) for number in range(len(cells[0]))]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _with_last(row: Sequence[str]) -> Iterator[tuple[str, bool]]:
    return ((cell, number == len(row) - 1) for number, cell in enumerate(row))
