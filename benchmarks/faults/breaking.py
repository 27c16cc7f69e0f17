"""Faults of the bench's own processes, of the disk below them, of their clocks and of the provider."""

import asyncio
import os
import shutil
import struct
import subprocess
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from benchmarks.cluster.parts import Part
from benchmarks.faults.scene import Do, Scene
from benchmarks.faults.watch import FILLER

# A supervisor starts what has ended after a moment. A process is taken for gone after 20 to 30 seconds.
RESTARTS_AFTER, STOPPED_SECONDS = 1.5, 28.0
FULL_SECONDS, SILENT_SECONDS, CLOCK_SECONDS = 8.0, 25.0, 12.0
ASKED_BEYOND = "SELECT count(*), count(*) FILTER (WHERE status = 'ok') FROM evidence_call WHERE asked_at {}"
JUMPS = Path(__file__).with_name("clock.c")


def killed(name: str) -> Do:
    async def do(scene: Scene) -> None:
        part = scene.part(name)
        await asyncio.to_thread(part.kill)
        await asyncio.sleep(RESTARTS_AFTER)
        scene.undo()
        await asyncio.to_thread(part.begin)

    return do


def stopped(name: str) -> Do:
    async def do(scene: Scene) -> None:
        part = scene.part(name)
        part.pause()
        try:
            await asyncio.sleep(STOPPED_SECONDS)
        finally:
            part.resume()
        scene.undo()

    return do


async def all_stopped(scene: Scene) -> None:
    """SIGTERM to every process of ours at once."""
    ours = [part for name, part in scene.bench.parts.items() if name.startswith(("web", "worker", "beat", "serve"))]
    await asyncio.gather(*(_stopped_and_begun(part) for part in ours))
    scene.undo()


async def all_killed(scene: Scene) -> None:
    """SIGKILL to everything, PostgreSQL, Redis and nginx too, and everything is started again at once."""
    parts = list(scene.bench.parts.values())
    await asyncio.gather(*(asyncio.to_thread(part.kill) for part in parts))
    await asyncio.sleep(RESTARTS_AFTER)
    scene.undo()
    await asyncio.gather(*(asyncio.to_thread(part.begin) for part in parts))


async def _stopped_and_begun(part: Part) -> None:
    await asyncio.to_thread(part.stop)
    await asyncio.sleep(RESTARTS_AFTER)
    part.begin()


async def full_disk(scene: Scene) -> None:
    """The disk of the database is full, and has room again. Whatever ended of it is started again."""
    if not os.path.ismount(scene.bench.data):
        scene.problems.append("not tried: no small disk could be mounted")
        return scene.undo()
    filler = scene.bench.data / FILLER
    for _ in range(int(FULL_SECONDS)):
        await asyncio.to_thread(_fill, filler)
        await asyncio.sleep(1)
    scene.notes.append("full by a tmpfs")
    filler.unlink()
    scene.undo()
    for name, part in scene.bench.parts.items():
        if not part.runs():
            scene.notes.append(f"{name} had ended")
            await asyncio.to_thread(part.begin)


def _fill(filler: Path) -> None:
    with filler.open("ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


async def clocks_jump(scene: Scene) -> None:
    """One web process and one worker see the time an hour on, then an hour back, then right again."""
    library, started = scene.bench.folder / "clock.so", datetime.now(UTC)
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        scene.problems.append("not tried: apt-get install gcc libc6-dev")
        return scene.undo()
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, JUMPS], check=True)
    ahead = scene.bench.folder / "ahead"
    ahead.write_bytes(struct.pack("q", 0))
    parts = [scene.part("web1"), scene.part("worker1")]
    await _restarted(parts, LD_PRELOAD=str(library), CLOCK_AHEAD=str(ahead))
    for seconds in (3600, -3600, 0):
        with ahead.open("r+b") as shared:
            shared.write(struct.pack("q", seconds))
        await asyncio.sleep(CLOCK_SECONDS)
    await _restarted(parts)
    scene.undo()
    for word, beyond in (("on", "> %s"), ("back", "< %s")):
        moment = started + timedelta(minutes=30 if word == "on" else -30)
        calls, answered = scene.bench.rows(ASKED_BEYOND.format(beyond), moment)[0]
        scene.notes.append(f"{calls} calls with the clock an hour {word}, {answered} answered")
        if not calls or calls > answered:
            scene.problems.append(f"with the clock an hour {word}, {answered} of {calls} calls were answered")


async def _restarted(parts: list[Part], **environment: str) -> None:
    await asyncio.gather(*(asyncio.to_thread(part.stop) for part in parts))
    for part in parts:
        part.begin(**environment)
    await asyncio.gather(*(asyncio.to_thread(part.wait) for part in parts))


async def silent_upstream(scene: Scene) -> None:
    """The provider accepts calls and answers none."""
    hush = partial(asyncio.to_thread, scene.upstream.hush)
    await hush(True)
    try:
        await asyncio.sleep(SILENT_SECONDS)
    finally:
        await hush(False)
    scene.undo()
