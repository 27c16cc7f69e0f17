"""Run it: `python -m benchmarks.workers [threads gevent]`. Needs redis-server, and gevent for that pool.

One web process and one worker on one SQLite database, each kind of pool in turn, against the same upstream.
"""

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks.driver import ask, callers, load
from benchmarks.processes import ROOT, Server, StartError, free_port
from benchmarks.roster import SLOWEST
from benchmarks.scenarios import body, percentile
from benchmarks.server import Product, plain_environment

POOL = "gateway.workers.celery.CeleryWorkerPool"
SEATS_AT_ONCE = 256
READY_SECONDS = 60.0


class SeveralProcesses(Product):
    """The product as a web process and a worker, over one Redis."""

    redis_url = ""

    def web(self) -> Server:
        port = free_port()
        command = ["manage.py", "serve", "--web"]
        return Server("web", command, log=self.folder / "web.log", env=self._env(BENCH_PORT=str(port)), port=port)

    @contextlib.contextmanager
    def worker(self, pool: str) -> Iterator[psutil.Process]:
        command = [sys.executable, "-m", "celery", "-A", "benchsite", "worker", "-P", pool, "-c", str(SEATS_AT_ONCE)]
        with (self.folder / f"worker-{pool}.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=self._env(), stdout=log, stderr=log)
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _env(self, **extra: str) -> dict[str, str]:
        ours = {"REDIS_URL": self.redis_url, "BENCH_WORKER_POOL": POOL, "BENCH_DRAIN_SECONDS": "5"}
        return super()._env(**{**ours, **extra})


@contextlib.contextmanager
def own_redis(folder: Path) -> Iterator[str]:
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


async def measured(web: Server, worker: psutil.Process, seconds: float) -> list[str]:
    """One row for each number of callers, and one for a caller alone."""
    async with callers() as session:
        await _answered(session, web.url)
        seen = await load(session, web.url, body("bench/five"), concurrency=1, panels=60, seconds=20)
        added = [1000 * (panel.seconds - SLOWEST["bench/five"]) for panel in seen.panels if not panel.error]
        p50, p99 = percentile(added, 0.5), percentile(added, 0.99)
        rows = [f"1 caller: added p50 {p50:.1f} ms, p99 {p99:.1f} ms; errors {len(seen.errors)}"]
        for concurrency in (8, 32, 64):
            await load(session, web.url, body("bench/five"), concurrency=concurrency, panels=2 * concurrency, seconds=10)
            before = web.cpu_seconds(), _cpu(worker)
            seen = await load(session, web.url, body("bench/five"), concurrency=concurrency, panels=100_000, seconds=seconds)
            answered = max(1, len(seen.panels) - len(seen.errors))
            spent = [
                1000 * (now - then) / answered for now, then in zip((web.cpu_seconds(), _cpu(worker)), before, strict=True)
            ]
            rows.append(
                f"{concurrency} callers: {answered / seen.seconds:.1f} panels/s, CPU a panel: web {spent[0]:.1f} ms, "
                f"worker {spent[1]:.1f} ms; errors {len(seen.errors)} {seen.errors[:1]}"
            )
    rows.append(
        f"peak: web {web.peak_mib():.0f} MiB, worker {worker.memory_info().rss / 2**20:.0f} MiB, threads {worker.num_threads()}"
    )
    return rows


async def _answered(session: object, url: str) -> None:
    """Wait until the worker has joined, and a panel is answered."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        panel = await ask(session, url + "/v1/chat/completions", _payload(), streams=False)  # type: ignore[arg-type]
        if not panel.error:
            return
        if time.monotonic() > deadline:
            raise StartError(f"No panel is answered: {panel.error}")
        await asyncio.sleep(0.5)


def _payload() -> bytes:
    return b'{"model": "bench/five", "messages": [{"role": "user", "content": "Is anybody there?"}]}'


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__)
    parser.add_argument("pools", nargs="*", default=["threads"], help="threads, gevent")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=8.0, help="of load, for each number of callers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        upstream = Server(
            "upstream",
            ["-m", "benchmarks.mock_upstream", "--port", "{port}", "--chunks", "8"],
            log=folder / "upstream.log",
            env=plain_environment(os.environ),
        )
        with own_redis(folder) as redis_url, upstream:
            product = SeveralProcesses(folder, upstream.url)
            product.redis_url = redis_url
            product.prepare()
            for _ in range(options.rounds):
                for pool in options.pools:
                    with product.worker(pool) as worker, product.web() as web:
                        print(f"{pool}, load {os.getloadavg()[0]:.1f}")
                        print("\n".join(f"  {row}" for row in asyncio.run(measured(web, worker, options.seconds))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
