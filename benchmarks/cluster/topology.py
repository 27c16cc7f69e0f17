"""Two web processes, two workers and beat, with PostgreSQL, Redis and nginx: the services of deploy/compose.yaml."""

import contextlib
import shutil
import sys
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import redis

from benchmarks.cluster.parts import Part, Postgres, listens
from benchmarks.cluster.proxy import nginx_command
from benchmarks.processes import DIRECT, StartError, free_port
from benchmarks.server import Product
from gateway.tests.postgres_cluster import PostgresCluster, binaries

POOL = "gateway.workers.celery.CeleryWorkerPool"


class Cluster(Product):
    """A bench on several processes in one folder, to be entered; `url` is nginx's."""

    def __init__(self, folder: Path, upstream_url: str, *, webs: int = 2, workers: int = 2, **settings: str) -> None:
        super().__init__(folder, upstream_url)
        self._settings = settings
        self._stack = ExitStack()
        self._redis_port = free_port()
        self.port = free_port()
        self.web_ports = [free_port() for _ in range(webs)]
        self.metrics_ports = [free_port() for _ in range(workers)]
        self.url = f"http://127.0.0.1:{self.port}"
        self.parts: dict[str, Part] = {}

    def __enter__(self) -> "Cluster":
        with ExitStack() as stack:
            self._database = self._postgres(stack)
            self._store("redis", self._redis(), stack)
            self.prepare()
            for name, part in self._product():
                self._store(name, part, stack)
            for part in list(self.parts.values())[2:]:
                part.wait()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def webs(self) -> list[Part]:
        return [part for name, part in self.parts.items() if name.startswith("web")]

    @property
    def workers(self) -> list[Part]:
        return [part for name, part in self.parts.items() if name.startswith("worker")]

    @property
    def database_url(self) -> str:
        return self._database.url()

    @property
    def redis_url(self) -> str:
        return f"redis://127.0.0.1:{self._redis_port}/0"

    def prepare(self) -> None:
        """Migrate, and load the roster."""
        self._manage("migrate", "--verbosity", "0")
        self._manage("load_bench", str(self.folder / "bench.toml"))

    def key(self, *arguments: str) -> str:
        """A new gateway key's text, as `create_key` prints it."""
        return self._manage("create_key", *arguments).strip()

    def _store(self, name: str, part: Part, stack: ExitStack) -> None:
        self.parts[name] = part
        stack.callback(part.stop)
        part.begin()

    def _postgres(self, stack: ExitStack) -> PostgresCluster:
        found = binaries()
        if not found:
            raise StartError("PostgreSQL is not installed: apt-get install postgresql")
        server = self._database_server(found)
        stack.callback(server.remove)
        part = Postgres(server)
        self.parts["postgres"] = part
        part.begin()
        server.made("bench")
        return server

    def _database_server(self, found: Path) -> PostgresCluster:
        """One that keeps what it has committed, as the tests' own need not."""
        return PostgresCluster(found, fsync="on", full_page_writes="on")

    def _redis(self) -> Part:
        if not (program := shutil.which("redis-server")):
            raise StartError("Redis is not installed: apt-get install redis-server")
        where = ["--port", str(self._redis_port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        command = [program, *where, "--save", "", "--appendonly", "no"]
        return Part("redis", command, log=self.folder / "redis.log", ready=self._redis_answers)

    def _redis_answers(self) -> bool:
        with contextlib.suppress(redis.RedisError), redis.Redis(port=self._redis_port, socket_timeout=1) as client:
            return bool(client.ping())
        return False

    def _product(self) -> Iterator[tuple[str, Part]]:
        for number, port in enumerate(self.web_ports, 1):
            command = [sys.executable, "manage.py", "serve", "--web"]
            ready = partial(_is_ready, f"http://127.0.0.1:{port}/readyz")
            yield f"web{number}", self._part(f"web{number}", command, ready, BENCH_PORT=str(port))
        for number, port in enumerate(self.metrics_ports, 1):
            command = [sys.executable, "-m", "celery", "-A", "benchsite", "worker", f"--hostname=worker{number}@%h"]
            ready = partial(listens, port)
            yield f"worker{number}", self._part(f"worker{number}", command, ready, BENCH_METRICS_PORT=str(port))
        beat = [sys.executable, "-m", "celery", "-A", "benchsite", "beat", "--pidfile="]
        yield "beat", self._part("beat", beat, lambda: True)
        command = nginx_command(self.folder, self.port, self.web_ports)
        yield "nginx", Part("nginx", command, log=self.folder / "nginx.log", ready=partial(listens, self.port))

    def _part(self, name: str, command: list[str], ready: Callable[[], bool], **extra: str) -> Part:
        return Part(name, command, log=self.folder / f"{name}.log", ready=ready, env=self._env(**extra))

    def _env(self, **extra: str) -> dict[str, str]:
        ours = {
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "BENCH_WORKER_POOL": POOL,
            "BENCH_TRUSTED_PROXIES": "127.0.0.1",
            "BENCHWARMERS_PUBLIC_URL": self.url,
            "BENCH_DAILY_JOBS": "1",
        }
        return super()._env(**{**ours, **self._settings, **extra})


def _is_ready(url: str) -> bool:
    with contextlib.suppress(urllib.error.URLError, OSError), DIRECT.open(url, timeout=3) as reply:
        return bool(reply.status == 200)
    return False
