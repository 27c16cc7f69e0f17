"""The bench as text: TOML or JSON in a file.

Reads and writes text; what its tables mean is bench_tables.py's, and the rows are bench_load.py's and bench_dump.py's.
"""

import json
import reprlib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import tomli_w

Format = Literal["toml", "json"]
# A thousand models are 300 kB; the TOML parser needs a second for each megabyte.
LARGEST = 2_000_000
MOST_PROBLEMS = 100


class BenchFileError(Exception):
    """A bench file was refused; every reason, each safe to print."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(problems))


class Problems:
    """What is wrong with a file, gathered so that it is told at once."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, problem: str) -> None:
        """Note one. Raises BenchFileError past MOST_PROBLEMS: each costs a search for what was meant."""
        self.found.append(problem)
        if len(self.found) >= MOST_PROBLEMS:
            raise BenchFileError([*self.found, "... and perhaps more"])


def read_bench(path: Path) -> dict[str, Any]:
    """Read a bench file, TOML or JSON by its extension, else by its look. Raises BenchFileError."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise BenchFileError([f"a bench file may hold {LARGEST // 1_000_000} MB; {str(path)!a} is larger"])
        # What an editor on Windows puts before the first character is no part of the text.
        return parse_bench(data.decode("utf-8-sig"), format_of(path))
    except UnicodeDecodeError as error:
        raise BenchFileError([f"not UTF-8 text: {error.reason} at byte {error.start}"]) from error
    except OSError as error:
        raise BenchFileError([f"cannot read {str(path)!a}: {error.strerror}"]) from error
    except ValueError as error:
        raise BenchFileError([f"cannot read {str(path)!a}: {error}"]) from error


def format_of(path: Path) -> Format | None:
    """The format that a file's extension names, or None."""
    formats: dict[str, Format] = {".toml": "toml", ".json": "json"}
    return formats.get(path.suffix.lower())


def parse_bench(text: str, as_format: Format | None = None) -> dict[str, Any]:
    """Parse a bench in `as_format`; None: JSON when it begins with a brace, else TOML. Raises BenchFileError."""
    as_format = as_format or ("json" if text.lstrip().startswith("{") else "toml")
    try:
        bench = json.loads(text, object_pairs_hook=_each_key_once) if as_format == "json" else tomllib.loads(text)
    except RecursionError as error:
        raise BenchFileError([f"not a bench: {as_format.upper()} nested too deep"]) from error
    except ValueError as error:
        raise BenchFileError([f"not {as_format.upper()}: {error}"]) from error
    if not isinstance(bench, dict):
        raise BenchFileError(["not a bench: an object of tables, such as endpoints and models, is needed"])
    return bench


def write_bench(bench: dict[str, Any], as_format: Format) -> str:
    """Return a bench as text, ending in a newline."""
    if as_format == "json":
        return json.dumps(bench, indent=2, ensure_ascii=False) + "\n"
    return tomli_w.dumps(bench)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in table if keys.count(key) > 1)
        raise ValueError(f"the key {reprlib.repr(twice)!a} is there twice in one object")
    return table
