"""The pins against what is published of their faults: advisories, withdrawn releases, later releases of the same line.

Advisories come from the package index by pip-audit, and not every index serves them. Where this one does not, that is said,
and what is left is what any index tells: whether a pinned release was withdrawn, and whether its line (5.2 of 5.2.19) has a
later one, which is how a fix is published. Locks of .ci/sdks hold old clients on purpose and are not looked at.
Run from the top of the repository. Exits 1 for a known fault and for a withdrawn release; with --strict also for a pin that
is behind its line, and when anything could not be looked up.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LOCKS = ("requirements-dev.txt", "requirements-local.txt", ".ci/browser/requirements.txt")
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z0-9,_-]+\])?==([^ ;\\\n]+)([^\\\n]*)", re.MULTILINE | re.IGNORECASE)
WITHDRAWN = re.compile(r"warning: `(\S+)` is yanked(?: \(reason: \"(.*)\"\))?")
SECONDS = 50


@dataclass(frozen=True, slots=True)
class Found:
    """`wrong` fails the check, `behind` only a strict one; `unknown` says what could not be looked up."""

    wrong: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def pins(text: str) -> list[tuple[str, str, str]]:
    """Return (name, version, marker) of every pin in a lock."""
    return [(name, version, marker.strip()) for name, version, marker in PIN.findall(text)]


def advisories(locks: Sequence[str]) -> Found:
    asked = [word for lock in locks for word in ("--requirement", lock)]
    command = ["pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json", *asked]
    # 1 is its word for a fault found.
    return audited(_run(command, succeeded=(0, 1)).stdout)


def audited(output: str) -> Found:
    """Read pip-audit's report. It calls a package that it could look up nowhere no fault; here it is one not looked up."""
    try:
        packages = json.loads(output)["dependencies"]
    except ValueError:
        return Found(unknown=("advisories: the index could not be asked",))
    wrong = [
        f"{package['name']} {package['version']}: {fault['id']}, fixed in {', '.join(fault['fix_versions']) or 'no release'}"
        for package in packages
        for fault in package.get("vulns", ())
    ]
    skipped = sum("skip_reason" in package for package in packages)
    unknown = f"advisories: the index serves none for {skipped} of {len(packages)} pins"
    return Found(wrong=tuple(wrong), unknown=(unknown,) if skipped else ())


def withdrawn(found: Sequence[tuple[str, str, str]]) -> Found:
    output = _resolved(found, "==", "--no-annotate")
    if output is None:
        return Found(unknown=("withdrawn releases: the index could not be asked",))
    return Found(wrong=tuple(f"{pin}: withdrawn, {why or 'for no reason given'}" for pin, why in WITHDRAWN.findall(output)))


def later(found: Sequence[tuple[str, str, str]]) -> Found:
    output = _resolved(found, "~=", "--quiet")
    if output is None:
        return Found(unknown=("later releases: the index could not be asked",))
    pinned = {(name, version) for name, version, _ in found}
    newest = [(name, version) for name, version, _ in pins(output) if (name, version) not in pinned]
    return Found(behind=tuple(f"{name}: {version} is the newest of its line" for name, version in newest))


def _resolved(found: Sequence[tuple[str, str, str]], comparison: str, *options: str) -> str | None:
    """What uv says of these pins, each for itself; None when it cannot tell."""
    wanted = "\n".join(f"{name}{comparison}{version} {marker}" for name, version, marker in found)
    command = ["uv", "pip", "compile", "--no-deps", "--no-header", *options, "-"]
    done = _run(command, wanted)
    return done.stdout + done.stderr or None


def _run(command: Sequence[str], given: str = "", succeeded: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Run a tool of this environment; it has written nothing when it failed or took too long."""
    nothing = subprocess.CompletedProcess(command, 1, "", "")
    try:
        done = subprocess.run(
            [sys.executable, "-m", *command], input=given, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return nothing
    return done if done.returncode in succeeded else nothing


def main() -> int:
    strict = "--strict" in sys.argv[1:]
    found = [pin for lock in LOCKS for pin in pins(Path(lock).read_text())]
    parts = (advisories(LOCKS), withdrawn(found), later(found))
    wrong = [line for part in parts for line in part.wrong]
    behind = [line for part in parts for line in part.behind]
    unknown = [line for part in parts for line in part.unknown]
    for title, lines in (("Faulty, as far as looked up", wrong), ("Behind", behind), ("Not looked up", unknown)):
        print("\n".join([f"{title}:", *(f"  {line}" for line in lines)]) if lines else f"{title}: none of {len(found)} pins.")
    return int(bool(wrong or (strict and (behind or unknown))))


if __name__ == "__main__":
    sys.exit(main())
