"""A bench of several processes: a Redis of its own, Celery workers, and a real server in front of them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from redis import Redis

from gateway.tests.running_server import RunningServer, free_port

REDIS = shutil.which("redis-server")
needs_redis = pytest.mark.skipif(not REDIS, reason="no redis-server on this machine")
POOL = "gateway.workers.celery.CeleryWorkerPool"
READY_SECONDS = 60


def eventually(holds, seconds: float = READY_SECONDS) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to hold"
        time.sleep(0.05)


@dataclass
class OwnRedis:
    """Writes down everything it is told, as some do: what tests look for must not be there either."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def client(self) -> Redis:
        return Redis.from_url(self.url, socket_timeout=5)

    def start(self) -> None:
        command = [str(REDIS), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        self.process = subprocess.Popen([*command, "--appendonly", "yes", "--appendfsync", "always"], stdout=subprocess.DEVNULL)
        eventually(self._answers, 20)

    def stop(self, number: int = signal.SIGKILL) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
            self.process.wait(20)

    def written(self) -> bytes:
        """Whatever Redis has in its files, a snapshot of the present included."""
        self.client.save()
        return b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())

    def _answers(self) -> bool:
        try:
            with closing(socket.create_connection(("127.0.0.1", self.port), 1)):
                return bool(self.client.ping())
        except OSError:
            return False


@dataclass
class Worker:
    """One `celery -A benchsite worker` on a server's data folder."""

    server: RunningServer
    number: int
    process: subprocess.Popen | None = None

    @property
    def log_path(self) -> Path:
        return self.server.folder / f"worker{self.number}.log"

    @property
    def log(self) -> str:
        return self.log_path.read_text()

    @property
    def pid(self) -> int:
        assert self.process
        return self.process.pid

    def start(self, *arguments: str) -> "Worker":
        """Begin to start; `ready` waits for the end of it."""
        command = [sys.executable, "-m", "celery", "-A", "benchsite", "worker", "-n", f"worker{self.number}@%h", *arguments]
        with self.log_path.open("a") as log:
            self.process = subprocess.Popen(command, cwd=settings.BASE_DIR, env=self.server._env(), stdout=log, stderr=log)
        return self

    def ready(self) -> None:
        """Wait until it has said that it is there."""
        eventually(self._has_joined)

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(40)

    def _has_joined(self) -> bool:
        assert self.process and self.process.poll() is None, self.log
        return bool(self.server.rows(f"SELECT name FROM evidence_process WHERE name LIKE '%:{self.pid}:%'"))


@dataclass
class CeleryBench:
    redis: OwnRedis
    server: RunningServer
    workers: list[Worker]

    def start_worker(self, *arguments: str) -> Worker:
        worker = Worker(self.server, len(self.workers) + 1)
        self.workers.append(worker)
        return worker.start(*arguments)

    def calls(self, panel_id: str) -> dict[str, tuple]:
        """By seat: status, error kind, error, holder."""
        rows = self.server.rows(
            "SELECT c.seat_name, c.status, c.error_kind, c.error, c.held_by FROM evidence_call c "
            f"JOIN evidence_panel p ON p.id = c.panel_id WHERE p.panel_id = '{panel_id}'"
        )
        return {row[0]: tuple(row[1:]) for row in rows}


@contextmanager
def celery_bench(folder: Path, bench: str, *, workers: int = 1, **environment: str) -> Iterator[CeleryBench]:
    """Run Redis, workers and a server with this bench until the block ends."""
    redis = OwnRedis(folder / "redis")
    redis.folder.mkdir()
    data = folder / "data"
    data.mkdir()
    own = {"REDIS_URL": redis.url, "BENCH_WORKER_POOL": POOL, "BENCH_DRAIN_SECONDS": "3"}
    server = RunningServer(data, environment=own | environment, options=("--web",))
    running = CeleryBench(redis, server, [])
    try:
        redis.start()
        server.load(bench)
        for _ in range(workers):
            running.start_worker()
        server.start()
        for worker in running.workers:
            worker.ready()
        yield running
    finally:
        for worker in running.workers:
            if worker.process and worker.process.poll() is None:
                os.kill(worker.pid, signal.SIGKILL)
                worker.process.wait(10)
        if server.process and server.process.poll() is None:
            server.stop()
        server.data.drop()
        redis.stop()
