"""What is shown of a panel while it is awaited: its text on standard output, one line of progress on standard error.

Answers are untrusted text: whatever steers a terminal is made visible, also where the output goes to a file, which somebody
will look at in one.
"""

import asyncio
import re
import sys
import time

from django.core.management.base import OutputWrapper

from gateway.client import Happening, Piece, Seated, SeatEnded
from gateway.management.terminal import Terminal

# Control characters but for tabs and line feeds, what turns text around, and halves of characters, which no stream can write.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TICK_SECONDS = 1.0


def plain(text: str) -> str:
    """`text` without what moves a cursor, colours, rings or turns text around: each such character is named instead."""
    return _STEERING.sub(lambda found: f"[U+{ord(found[0]):04X}]", text.replace("\r\n", "\n"))


class Showing:
    """Shows one panel. `quiet`: its text is not wanted. Progress is shown where standard error is a terminal."""

    def __init__(self, out: OutputWrapper, terminal: Terminal, *, collection: str, quiet: bool) -> None:
        self._out = out
        self._terminal = terminal
        self._collection = collection
        self._quiet = quiet
        self._began = time.monotonic()
        self._seats = ""
        # Whether the last line that was written goes on: on one terminal, progress would be written over it.
        self._in_line = False
        self.panel = ""

    async def told(self, what: Happening) -> None:
        match what:
            case Seated(panel):
                self.panel = panel
            case Piece(text):
                self._write(plain(text))
            case SeatEnded(_, ended, seats):
                self._seats = f"{ended} of {seats} seats answered, "
        self.progress()

    async def tick(self) -> None:
        """Keep the seconds going, until cancelled."""
        while True:
            self.progress()
            await asyncio.sleep(TICK_SECONDS)

    def progress(self) -> None:
        if not (self._in_line and sys.stdout.isatty()):
            seconds = time.monotonic() - self._began
            self._terminal.under_way(f"{self.panel or self._collection}: {self._seats}{seconds:.0f} s")

    def close(self) -> None:
        """Take the progress away, and end the last line."""
        if self._in_line:
            self._write("\n")
        self._terminal.under_way("")

    def _write(self, text: str) -> None:
        if self._quiet or not text:
            return
        if not self._in_line:
            self._terminal.under_way("")
        self._out.write(text, ending="")
        self._out.flush()
        self._in_line = not text.endswith("\n")
