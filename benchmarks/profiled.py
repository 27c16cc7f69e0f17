"""manage.py with a profiler in every thread, counting each thread's own CPU time: where it went, as text.

SIGUSR1 forgets everything so far, so that a warm-up does not count; SIGUSR2 writes the file. For Python 3.11: from 3.12
on cProfile follows one thread only.

    python -m benchmarks.profiled FILE serve
"""

import cProfile
import pstats
import re
import runpy
import signal
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType
from typing import Any

from benchmarks.processes import ROOT

_PACKAGE = re.compile(r".*(?:site-packages|python3\.\d+)/([^/]+?)(?:\.py)?(?:/|$)")
_FINER = ("django", "twisted")


class ThreadProfile(cProfile.Profile):
    """A profile that is read while its thread still runs: the plain one would stop the reader's profiler instead."""

    def __init__(self) -> None:
        super().__init__(time.thread_time)
        self.thread = threading.current_thread().name

    def create_stats(self) -> None:
        self.snapshot_stats()


class Profiler:
    def __init__(self) -> None:
        self.profiles: list[ThreadProfile] = []

    def start(self) -> None:
        """Profile this thread, and every thread that starts from now on."""
        threading.setprofile(lambda *event: self.follow())
        self.follow()

    def follow(self) -> None:
        """Put a profile of its own in the place of the hook that a new thread begins with."""
        profile = ThreadProfile()
        self.profiles.append(profile)
        profile.enable()

    def forget(self, *signalled: Any) -> None:
        for profile in self.profiles:
            profile.clear()

    def write(self, path: Path) -> None:
        """Write the report; the file appears when it is whole."""
        draft = path.with_suffix(".part")
        with draft.open("w") as file:
            file.write(
                "CPU seconds of the profiled process. The profiler itself makes everything slower, small functions most:\n"
            )
            file.write("read shares, not milliseconds.\n")
            threads, packages = self._by_thread(), self._by_package()
            for title, seconds in (("By kind of thread", threads), ("By package, with the C functions it calls", packages)):
                file.write(f"\n{title}\n\n" + shares(seconds))
            # pstats raises for a thread that has done nothing.
            stats = pstats.Stats(*(profile for profile in self.profiles if profile.getstats()), stream=file)
            file.write("\nFunctions by their own time\n")
            stats.sort_stats("tottime").print_stats(60)
            file.write("\nFunctions of the project by time with what they call\n")
            stats.sort_stats("cumtime").print_stats(re.escape(str(ROOT)) + "/(?!.venv)", 60)
        draft.rename(path)

    def _by_thread(self) -> dict[str, float]:
        seconds: dict[str, float] = defaultdict(float)
        for profile in self.profiles:
            kind = re.sub(r"[-_ ]?\d+.*$", "", profile.thread)
            seconds[kind] += sum(entry.inlinetime for entry in profile.getstats())
        return seconds

    def _by_package(self) -> dict[str, float]:
        """What C does (sockets, SQLite, JSON) counts for the package that called it."""
        seconds: dict[str, float] = defaultdict(float)
        for entry in (entry for profile in self.profiles for entry in profile.getstats()):
            if not isinstance(entry.code, str):
                builtins = (call.inlinetime for call in entry.calls or () if isinstance(call.code, str))
                seconds[package_of(entry.code)] += entry.inlinetime + sum(builtins)
        return seconds


def package_of(code: CodeType) -> str:
    """Whose code a function is: a part of the project, or a library (django and twisted by their parts)."""
    path = code.co_filename
    if path.startswith(str(ROOT)) and "site-packages" not in path:
        return "/".join(Path(path).relative_to(ROOT).parts[:2])
    found = _PACKAGE.match(path)
    if found is None:
        return path
    name = found[1] if "site-packages" in path else f"python: {found[1]}"
    after = path.rpartition(f"/{name}/")[2]
    return f"{name}.{after.partition('/')[0].removesuffix('.py')}" if name in _FINER else name


def shares(seconds: dict[str, float]) -> str:
    total = sum(seconds.values()) or 1.0
    ranked = sorted(seconds.items(), key=lambda item: -item[1])
    return "".join(f"{spent:8.2f} s {spent / total:6.1%}  {name}\n" for name, spent in ranked[:30])


def main() -> None:
    path, sys.argv = Path(sys.argv[1]).resolve(), ["manage.py", *sys.argv[2:]]
    sys.path.insert(0, str(ROOT))
    profiler = Profiler()
    signal.signal(signal.SIGUSR1, profiler.forget)
    signal.signal(signal.SIGUSR2, lambda *signalled: profiler.write(path))
    profiler.start()
    runpy.run_path(str(ROOT / "manage.py"), run_name="__main__")


if __name__ == "__main__":
    main()
