"""A real server in a process of its own, with a data folder and a bench of its own: the product's front door."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from collections_app.tests.own_database import OwnDatabase, Rows, database_of

READY_SECONDS = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class RunningServer:
    folder: Path
    port: int = field(default_factory=free_port)
    environment: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    process: subprocess.Popen | None = None
    own: OwnDatabase | None = None

    @property
    def data(self) -> OwnDatabase:
        """Its database: the one that belongs to its folder, where it is given no other."""
        return self.own or database_of(self.folder)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text()

    def manage(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run a management command on this server's data folder."""
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, check=False, cwd=settings.BASE_DIR, env=self._env(), capture_output=True, text=True, timeout=60
        )

    def load(self, bench: str) -> None:
        path = self.folder / "bench.toml"
        path.write_text(bench)
        self.data.make()
        done = self.manage("load_bench", str(path))
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        with (self.folder / "server.log").open("a") as log:
            command = [sys.executable, "manage.py", "serve", *self.options]
            self.process = subprocess.Popen(command, cwd=settings.BASE_DIR, env=self._env(), stdout=log, stderr=log)
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                # Another process may have been given the port between its choice and now.
                assert f"Port {self.port} is taken" in self.log, self.log
                self.port = free_port()
                return self.start()
            try:
                if self.request("GET", "/healthz").status == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(f"no server after {READY_SECONDS} s: {self.log}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        assert self.process
        self.process.send_signal(number)
        try:
            return self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, *, raw: bytes | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = json.dumps(body).encode() if body is not None else raw
        try:
            connection.request(method, path, body=sent, headers={"Content-Type": "application/json"} | (headers or {}))
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def stream(self, path: str) -> Iterator[bytes]:
        """Read a stream line by line, each as it comes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(connection):
            connection.request("GET", path)
            yield from connection.getresponse()

    def chat(self, model: str, prompt: str = "Say anything.", **fields: Any) -> Answer:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}]} | fields
        return self.request("POST", "/v1/chat/completions", body)

    def rows(self, sql: str, *values: Any) -> list[tuple]:
        """Read the server's database beside it."""
        with self.database() as connection:
            return connection.execute(sql, values).fetchall()

    @contextmanager
    def database(self) -> Iterator[Rows]:
        """The server's database, for a transaction beside it."""
        with self.data.open() as rows:
            yield rows

    def kept(self) -> dict[str, bytes]:
        """Whatever the server has written down, by file; what its database holds elsewhere is among it as `database`."""
        files = {path.name: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        return files | {"database": self.data.content()}

    def _env(self) -> dict[str, str]:
        defaults = {
            "BENCH_DATA_DIR": str(self.folder),
            "BENCH_PORT": str(self.port),
            "BENCH_LOCAL_MODEL": "0",
            "BENCH_DAILY_JOBS": "0",
            "DJANGO_SETTINGS_MODULE": "benchsite.settings",
        }
        return os.environ | self.data.environment | defaults | self.environment


@contextmanager
def running_server(folder: Path, bench: str, **environment: str) -> Iterator[RunningServer]:
    """Run a server with this bench until the block ends."""
    server = RunningServer(folder, environment=environment)
    server.load(bench)
    server.start()
    try:
        yield server
    finally:
        if server.process and server.process.poll() is None:
            server.stop()
        server.data.drop()
