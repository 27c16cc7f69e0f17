"""Reading whole files and lines of them: bounded, and none lost for a bad one beside it.

Makes objects of JSON; what they mean is for the modules of each kind.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from evidence.moving_in.folder import Folder, UnreadableError
from evidence.moving_in.report import FileReport
from evidence.storable import clean_json

LARGEST_CONFIG = 16_000_000
# Two million tokens, more than a model reads at once. In memory, one emoji makes each character of a text four bytes.
LONGEST_LINE = 8_000_000
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One object of a file of lines. `size` is in bytes."""

    number: int
    entry: dict[str, Any]
    size: int


def read_text(folder: Folder, report: FileReport) -> str | None:
    """A whole configuration file; None where there is none, or none that can be read, which is then reported."""
    report.missing = not folder.has(report.path)
    if report.missing:
        return None
    try:
        with folder.open(report.path) as file:
            data = file.read(LARGEST_CONFIG + 1)
        if len(data) > LARGEST_CONFIG:
            raise UnreadableError(f"larger than {LARGEST_CONFIG // 1_000_000} MB")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(report, f"not UTF-8 at byte {error.start}")
    except (UnreadableError, OSError) as error:
        _refuse(report, _cause(error))
    return None


def read_table(folder: Folder, report: FileReport) -> dict[str, Any]:
    """A configuration file's object without its comments; empty where nothing can be read, which is then reported."""
    content = read_text(folder, report)
    if content is None:
        return {}
    try:
        found = _parsed(content)
    except ValueError as error:
        _refuse(report, f"broken JSON{_where(error)}; nothing of the file can be read")
        return {}
    if not isinstance(found, dict):
        _refuse(report, "no JSON object")
        return {}
    return {name: value for name, value in found.items() if not name.startswith("_")}


def read_lines(
    folder: Folder, report: FileReport, told: Callable[[int], None], *, longest: int = LONGEST_LINE
) -> Iterator[Line]:
    """The objects of a file of JSON lines; what is none is reported. `told` hears how many bytes are done."""
    report.missing = not folder.has(report.path)
    if report.missing:
        return
    try:
        with folder.open(report.path) as file:
            for number, (raw, done) in enumerate(_raw_lines(file, longest), 1):
                told(done)
                if raw is not None and not raw.strip():
                    continue
                report.read += 1
                if raw is None:
                    report.leave_out(number, f"longer than {longest / 1_000_000:g} MB")
                elif line := _line(number, raw, report):
                    yield line
    except (UnreadableError, OSError) as error:
        _refuse(report, _cause(error))


def _raw_lines(file: BinaryIO, longest: int) -> Iterator[tuple[bytes | None, int]]:
    """Each line with where it ends in the file; None for one that is too long, of which no more than that is held."""
    while raw := file.readline(longest):
        too_long = len(raw) == longest and not raw.endswith(b"\n")
        while too_long and (rest := file.readline(1_000_000)) and not rest.endswith(b"\n"):
            pass
        yield None if too_long else raw, file.tell()


def _line(number: int, raw: bytes, report: FileReport) -> Line | None:
    try:
        entry = _parsed((raw.removeprefix(_BOM) if number == 1 else raw).decode())
    except UnicodeDecodeError:
        report.leave_out(number, "not UTF-8")
    except ValueError:
        report.leave_out(number, "broken JSON" if raw.endswith(b"\n") else "broken JSON: the last line is cut off")
    else:
        if isinstance(entry, dict):
            return Line(number, entry, len(raw))
        report.leave_out(number, "no JSON object")
    return None


def _parsed(content: str) -> Any:
    """Raises ValueError for what is no JSON; none of the numbers that JSON does not have are taken.

    Its texts can be stored, looked up and compared with what is stored: what no database holds comes by an escape alone.
    """
    try:
        found = json.loads(content, parse_constant=_no_number)
        return clean_json(found) if "\\u" in content else found
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _refuse(report: FileReport, why: str) -> None:
    """Note that a file, or what is left of it, cannot be read: one thing that was looked at."""
    report.read += 1
    report.leave_out("", why)


def _cause(error: Exception) -> str:
    return str(error) if isinstance(error, UnreadableError) else getattr(error, "strerror", None) or "cannot be read"


def _where(error: ValueError) -> str:
    return f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
