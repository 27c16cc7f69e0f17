"""What each process holds, every few seconds: memory, threads, file descriptors, connections; and how that grows."""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import psutil

EVERY_SECONDS = 5.0
# Its processes share what they have read: the same memory would be counted for each of them.
SHARING = "postgres"


@dataclass(frozen=True, slots=True)
class Sample:
    """A part at one moment: MiB resident, of processes that share it only what is their own."""

    minutes: float
    mib: float
    threads: int
    files: int
    connections: int


class Sampler:
    """Samples in a thread of its own from entry to exit; `by_part` in the order they were taken."""

    def __init__(self, processes: Callable[[], Mapping[str, Sequence[psutil.Process]]]) -> None:
        self._processes = processes
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="samples")
        self.by_part: dict[str, list[Sample]] = {}

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            minutes = (time.monotonic() - self._started) / 60
            for name, tree in self._processes().items():
                self.by_part.setdefault(name, []).append(_sample(minutes, tree, shared=name == SHARING))
            if self._over.wait(EVERY_SECONDS):
                return


def _sample(minutes: float, tree: Sequence[psutil.Process], *, shared: bool) -> Sample:
    held = threads = files = connections = 0
    for process in tree:
        with contextlib.suppress(psutil.NoSuchProcess):
            memory = process.memory_info()
            held += memory.rss - memory.shared if shared else memory.rss
            threads += process.num_threads()
            files += process.num_fds()
            connections += len(process.net_connections("tcp"))
    return Sample(minutes, held / 2**20, threads, files, connections)


def slope(samples: Sequence[Sample], warm_up_minutes: float) -> float:
    """MiB a minute after the warm-up, by least squares; NaN for fewer than two samples."""
    points = [(sample.minutes, sample.mib) for sample in samples if sample.minutes >= warm_up_minutes]
    if len(points) < 2:
        return float("nan")
    middle = sum(x for x, _ in points) / len(points)
    return sum((x - middle) * y for x, y in points) / sum((x - middle) ** 2 for x, _ in points)
