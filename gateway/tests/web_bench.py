"""A bench of several web processes: one database, one data folder, one Redis, and no worker but their own threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.tests.celery_bench import OwnRedis
from gateway.tests.running_server import RunningServer


@dataclass
class WebBench:
    redis: OwnRedis
    servers: list[RunningServer]

    def seats(self, panel_id: str) -> dict[str, tuple]:
        """By seat: status, error kind, answer, what else had come, number."""
        rows = self.servers[0].rows(
            "SELECT c.seat_name, c.status, c.error_kind, c.answer, c.partial, c.ended_as FROM evidence_call c "
            "JOIN evidence_panel p ON p.id = c.panel_id WHERE p.panel_id = ? ORDER BY c.id",
            panel_id,
        )
        return {row[0]: tuple(row[1:]) for row in rows}

    def panels(self) -> list[str]:
        """Every panel's id, the first asked first."""
        return [row[0] for row in self.servers[0].rows("SELECT panel_id FROM evidence_panel ORDER BY id")]

    def panels_of_key(self, key: str) -> int:
        found = self.servers[0].rows("SELECT count(*) FROM evidence_panel WHERE request LIKE ?", f"%{key}%")
        return int(found[0][0])


@contextmanager
def web_bench(folder: Path, bench: str, *, processes: int = 2, **environment: str) -> Iterator[WebBench]:
    """Run so many web processes with this bench until the block ends."""
    redis = OwnRedis(folder / "redis")
    redis.folder.mkdir()
    data = folder / "data"
    data.mkdir()
    own = {"REDIS_URL": redis.url, "BENCH_DRAIN_SECONDS": "3"} | environment
    servers = [RunningServer(data, environment=own, options=("--web",)) for _ in range(processes)]
    try:
        redis.start()
        servers[0].load(bench)
        for server in servers:
            server.start()
        yield WebBench(redis, servers)
    finally:
        for server in servers:
            if server.process and server.process.poll() is None:
                server.process.kill()
                server.process.wait(10)
        servers[0].data.drop()
        redis.stop()
