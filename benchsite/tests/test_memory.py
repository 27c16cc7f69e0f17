"""What threads give back is used again, and a request goes with its reply: a bench grows with what it holds alone."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchsite.processes.memory import ARENAS
from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import celery_bench, needs_redis
from gateway.tests.running_server import RunningServer, running_server

# An arena beside the first lies in regions of this size, each at a multiple of it.
REGION = 64 << 20
# The second arena, and what of the process begins at such an address by chance.
FEW = ARENAS + 1
glibc = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="another C library")


def bench_of_six(upstream) -> str:
    models = {f"m{number}": {"model": f"slow-0.2{number}"} for number in range(6)}
    return bench_file(upstream.url, models, {"six": list(models)}) + "\n[limits]\nmax_calls = 6\n"


def regions(pid: int) -> int:
    """How many regions of arenas a process has."""
    maps = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    starts = [int(entry[0].partition("-")[0], 16) for entry in maps if len(entry) == 5 and entry[1] == "rw-p"]
    return sum(start % REGION == 0 for start in starts)


def ask_at_once(server: RunningServer) -> None:
    with ThreadPoolExecutor(4) as callers:
        asked = [callers.submit(server.chat, "bench/six") for _ in range(4)]
        assert [reply.result().json["bench"]["answered"] for reply in asked] == [6] * 4


@glibc
def test_a_servers_threads_share_their_memory(loud_upstream, tmp_path):
    with running_server(tmp_path, bench_of_six(loud_upstream)) as server:
        ask_at_once(server)
        assert regions(server.process.pid) <= FEW


@glibc
def test_an_operators_own_number_counts(loud_upstream, tmp_path):
    with running_server(tmp_path, bench_of_six(loud_upstream), MALLOC_ARENA_MAX="8") as server:
        ask_at_once(server)
        assert regions(server.process.pid) > FEW


@glibc
@needs_redis
def test_a_workers_threads_share_their_memory(loud_upstream, tmp_path):
    with celery_bench(tmp_path, bench_of_six(loud_upstream)) as bench:
        ask_at_once(bench.server)
        assert regions(bench.workers[0].process.pid) <= FEW


def resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS"))


@pytest.mark.parametrize("model", ["say-I-see.", "closed"])
def test_a_large_request_goes_with_its_reply(model, loud_upstream, tmp_path):
    """Also when its seat fails. The collector of cycles looks by numbers of objects, of which a picture is one."""
    pictures = [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBOR" * 1_200_000}}]
    bench = bench_file(loud_upstream.url, {"eyes": {"model": model, "vision": True}}, {"seeing": ["eyes"]})
    with running_server(tmp_path, bench + "\n[limits]\nmax_explorers = 0\n") as server:
        held = []
        for _ in range(10):
            server.chat("bench/seeing", pictures)
            held.append(resident(server.process.pid))
    assert held[-1] - held[1] < 60 << 20
