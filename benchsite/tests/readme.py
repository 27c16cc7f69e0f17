"""The README as its readers use it: the commands that they would copy, and the tree, whole in docs/architecture.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
ADDRESS = "127.0.0.1:8123"


def commands() -> list[str]:
    """Every block of shell, in order."""
    return re.findall(r"```sh\n(.*?)\n```", TEXT, re.DOTALL)


def command(beginning: str, port: int) -> str:
    """The first block that begins so, for a server on `port`."""
    return next(block for block in commands() if block.startswith(beginning)).replace(ADDRESS, f"127.0.0.1:{port}")


def sections(content: str) -> dict[str, str]:
    """What each seat of a reply said, by alias; seats that did not answer are not in it."""
    found = re.findall(
        r"^## \w+ · (\S+)\n\n`p[^`]*` · ok · [\d.]+ s\n\n(.+?)\n\n(?=## |---)", content, re.DOTALL | re.MULTILINE
    )
    return dict(found)


def tree(text: str = ARCHITECTURE) -> list[str]:
    """Every file and folder that a tree names, from the root; those in a line's description are in that line's folder."""
    named: list[str] = []
    above: list[str] = []
    for line in re.findall(r"```\n(benchsite/.*?)```", text, re.DOTALL)[0].splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        told = re.match(r" *((?:[\w.]+(?:/|\.py) +)+)(.*)", line)
        assert told, line
        folder = "".join(above[:depth])
        first = told[1].split()[0]
        above[depth:] = [first] if first.endswith("/") else []
        named += [folder + name.removesuffix("/") for name in told[1].split()]
        named += ["".join(above) + name for name in re.findall(r"\b\w+\.(?:py|md)\b", told[2])]
    return named
