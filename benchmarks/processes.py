"""A process of the benchmark: started on a free port, waited for, measured (CPU, memory), stopped by its id.

Knows no scenario and no product.
"""

import contextlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60
STOP_SECONDS = 20

# A proxy of the environment would be asked for this machine's own addresses.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class StartError(Exception):
    """A process ended, or did not answer in time; carries the end of what it wrote."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tree_of(pid: int) -> Iterator[psutil.Process]:
    """A process with its children, none if it is gone."""
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        yield from (top, *top.children(recursive=True))


class Server:
    """A server process in a `with` block: ready on entry, stopped on exit.

    `command` is what Python runs, with "{port}" for the port. Raises StartError.
    """

    python = sys.executable
    ready_path = "/healthz"

    def __init__(
        self, name: str, command: Sequence[str], *, log: Path, env: Mapping[str, str], port: int | None = None
    ) -> None:
        self.name = name
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        self._command = [self.python, *(part.replace("{port}", str(self.port)) for part in command)]
        self._env = dict(env)

    def __enter__(self) -> Self:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=ROOT, env=self._env, stdout=log, stderr=log)
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        self._tree = psutil.Process(self._process.pid)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._process.pid

    def model_for(self, collection: str) -> str:
        """What a request names as its model to have a collection answer."""
        return collection

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def tail(self) -> str:
        """The end of what it wrote."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-25:])

    def cpu_seconds(self) -> float:
        """User and system time of the process and its children so far, ended children included."""
        own = self._tree.cpu_times()
        seconds = own.user + own.system + own.children_user + own.children_system
        for child in self._tree.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = child.cpu_times()
                seconds += times.user + times.system
        return float(seconds)

    def mib(self) -> float:
        """The memory held now, children included."""
        return float(sum(process.memory_info().rss for process in [self._tree, *self._tree.children(recursive=True)]) / 2**20)

    def peak_mib(self) -> float:
        """The most memory held at once, children included. Off Linux: what is held now."""
        processes = [self._tree, *self._tree.children(recursive=True)]
        return sum(_peak_bytes(process) for process in processes) / 2**20

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with DIRECT.open(f"{self.url}{self.ready_path}", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise StartError(f"{self.name} did not answer on {self.url}{self.ready_path}:\n{self.tail()}")


def _peak_bytes(process: psutil.Process) -> int:
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        return int(process.memory_info().rss)
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024
