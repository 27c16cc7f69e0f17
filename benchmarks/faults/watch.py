"""How much memory each part holds and how much disk the bench takes, looked at twice a second while something breaks."""

import contextlib
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

from benchmarks.cluster.parts import Part

LOOKS_EVERY = 0.5
# What a full disk is filled with, which is none of the bench's.
FILLER = "filler"


class Watch:
    """To be entered. The most over what was there at the start, in MiB: of each part's own memory, and of the folders."""

    def __init__(self, parts: Mapping[str, Part], folders: Iterable[Path]) -> None:
        self._parts = parts
        self._folders = tuple(folders)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)

    def __enter__(self) -> "Watch":
        self._before = {name: own_mib(part) for name, part in self._parts.items()}
        self._most = dict(self._before)
        self._disk_before = self._disk_most = self._disk_mib()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def memory(self) -> dict[str, float]:
        return {name: most - self._before[name] for name, most in self._most.items()}

    @property
    def disk(self) -> float:
        return self._disk_most - self._disk_before

    def _look_on(self) -> None:
        while not self._over.wait(LOOKS_EVERY):
            for name, part in self._parts.items():
                self._most[name] = max(self._most[name], own_mib(part))
            self._disk_most = max(self._disk_most, self._disk_mib())

    def _disk_mib(self) -> float:
        taken = 0
        for folder in self._folders:
            for path in (found for found in folder.rglob("*") if found.name != FILLER):
                with contextlib.suppress(OSError):
                    taken += path.lstat().st_blocks * 512
        return taken / 2**20


def own_mib(part: Part) -> float:
    """Memory of a part and its children, without what they share with others; none when it does not run."""
    held = 0
    if part.runs():
        for process in part.tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                memory = process.memory_info()
                held += memory.rss - memory.shared
    return held / 2**20
