"""A document's commands run in order, as its reader would: in a shell, at the top of the repository, beside a server.

The repository is a folder of links, so that what a command writes lands beside it.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchsite.tests.docs import comparing
from benchsite.tests.docs.blocks import ROOT, Block, Example, examples
from gateway.tests.running_server import RunningServer

ADDRESS = "127.0.0.1:8123"
LIMIT_SECONDS = 120
# Kept out of the folder: what a command may write to, and what stands in for the interpreter.
_NOT_LINKED = {".git", ".venv", "var", ".env"}


@dataclass
class Reader:
    """Somebody who goes through one document: `names` are the document's panels and keys, as this run has them."""

    folder: Path
    server: RunningServer
    names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in ROOT.iterdir():
            if path.name not in _NOT_LINKED:
                (self.folder / path.name).symlink_to(path)
        interpreter = self.folder / ".venv" / "bin" / "python"
        interpreter.parent.mkdir(parents=True)
        interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        interpreter.chmod(0o755)

    def run(self, block: Block) -> tuple[int, str]:
        """Run a block; returns its exit code, and what it printed with the address that documents have."""
        text = block.text.replace(ADDRESS, f"127.0.0.1:{self.server.port}")
        for shown, own in self.names.items():
            text = text.replace(shown, own)
        with subprocess.Popen(
            self._command(block, text),
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                printed, _ = process.communicate(timeout=LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                # With whatever it has started.
                os.killpg(process.pid, signal.SIGKILL)
                raise
        printed = printed.replace(f"127.0.0.1:{self.server.port}", ADDRESS).replace(str(self.folder), "")
        return process.returncode, printed

    def _command(self, block: Block, text: str) -> list[str]:
        if block.language == "sh":
            return ["sh", "-e", "-c", text]
        script = self.folder / ("snippet.mjs" if block.language == "js" else "snippet.py")
        script.write_text(text)
        return ["node" if block.language == "js" else sys.executable, str(script)]

    def _environment(self) -> Mapping[str, str]:
        own = {"BENCHWARMERS_URL": self.server.base_url, "COLUMNS": "100", "PYTHONPATH": ""}
        return self.server._env() | own


@dataclass(frozen=True)
class Difference:
    """What is not as a document says: `line` is where its block begins."""

    line: int
    problem: str


def read(text: str, reader: Reader, *, in_sdks: bool) -> Iterator[tuple[Example, Difference | None, str]]:
    """Run every example of a document that belongs in this suite, in order; yields what differed, and what was printed."""
    for example in examples(text):
        if example.block.in_sdks == in_sdks:
            code, printed = reader.run(example.block)
            yield example, _difference(example, code, printed), printed
            if example.shown:
                reader.names |= comparing.names(example.shown.text, printed)


def _difference(example: Example, code: int, printed: str) -> Difference | None:
    if (code != 0) != (example.block.mark == "fails"):
        return Difference(example.block.first, f"exit code {code}:\n{printed}")
    if example.shown and not comparing.same(example.shown.text, printed):
        wanted, got = ("\n".join(comparing.plain(one)) for one in (example.shown.text, printed))
        return Difference(example.shown.first, f"shows\n{wanted}\nand prints\n{got}")
    return None


def rewritten(text: str, done: list[tuple[Example, str]]) -> str:
    """The document with what its commands printed, where it shows anything else; what is cut short by `...` stays."""
    lines, names = text.splitlines(), dict[str, str]()
    for example, printed in reversed(done):
        shown = example.shown
        if shown and comparing.ANY_LINES not in shown.text.splitlines() and not comparing.same(shown.text, printed):
            lines[shown.first : shown.last] = [line.rstrip() for line in printed.strip().splitlines()]
            names |= comparing.names(shown.text, printed)
    text = "\n".join(lines) + "\n"
    for shown_name, own in names.items():
        text = text.replace(shown_name, own)
    return text


def writes() -> bool:
    """Whether documents are written again where they differ: BENCH_DOCS=write, for whoever changed what is printed."""
    return os.environ.get("BENCH_DOCS") == "write"
