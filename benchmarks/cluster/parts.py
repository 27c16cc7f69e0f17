"""A part of the cluster that can be stopped in any way and started again in its place: same address, same command."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from benchmarks.processes import ROOT, StartError, tree_of
from gateway.tests.postgres_cluster import PostgresCluster

READY_SECONDS = 60.0
STOP_SECONDS = 60.0


class Part:
    """A process with its children. `ready` tells whether it does its work; StartError when it never does."""

    def __init__(
        self, name: str, command: Sequence[str], *, log: Path, ready: Callable[[], bool], env: Mapping[str, str] = os.environ
    ) -> None:
        self.name = name
        self.log = log
        self._command = list(command)
        self._ready = ready
        self._env = dict(env)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.begin()
        self.wait()

    def begin(self, **environment: str) -> None:
        """Start it without waiting until it is ready, this time with more in its environment."""
        with self.log.open("ab") as log:
            env = {**self._env, **environment}
            self._process = subprocess.Popen(self._command, cwd=ROOT, env=env, stdout=log, stderr=log)

    def wait(self) -> None:
        """Wait until it is ready. Raises StartError."""
        deadline = time.monotonic() + READY_SECONDS
        while self.runs() and time.monotonic() < deadline:
            if self._ready():
                return
            time.sleep(0.05)
        raise StartError(f"{self.name} does not get ready:\n{self.tail()}")

    def stop(self) -> None:
        """End it as a supervisor does: SIGTERM, and SIGKILL for whoever does not go."""
        if not self.runs():
            return
        assert self._process
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        assert self._process
        self._process.wait(STOP_SECONDS)

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def mib(self) -> float:
        """Memory that it and its children hold now."""
        held = 0
        for process in self.tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                held += process.memory_info().rss
        return held / 2**20

    def cpu_seconds(self) -> float:
        """User and system time of it and its children so far."""
        seconds = 0.0
        for process in self.tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                seconds += times.user + times.system
        return seconds

    def tree(self) -> Iterator[psutil.Process]:
        assert self._process
        return tree_of(self._process.pid)

    def tail(self) -> str:
        """The end of what it wrote."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-25:])

    def _signal(self, number: signal.Signals) -> None:
        for process in list(self.tree()):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)


class Postgres(Part):
    """The database. Its processes are stopped and woken together."""

    def __init__(self, server: PostgresCluster) -> None:
        self._server = server
        self.name = "postgres"

    def begin(self, **environment: str) -> None:
        self._server.start()

    def wait(self) -> None:
        pass  # A server that has started answers.

    def stop(self) -> None:
        if self.runs():
            self._server.stop()

    def kill(self) -> None:
        self._server.stop(signal.SIGKILL)

    def runs(self) -> bool:
        return psutil.pid_exists(self._server.pid) and psutil.Process(self._server.pid).status() != psutil.STATUS_ZOMBIE

    def tree(self) -> Iterator[psutil.Process]:
        return tree_of(self._server.pid)

    def tail(self) -> str:
        return self._server.log[-2000:]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
