"""One fault under load, from a bench that is well to one that is well again, and what was seen of it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from benchmarks.cluster.parts import Part
from benchmarks.faults.benches import Alone, FaultyCluster, RecordingUpstream
from benchmarks.faults.load import Load
from benchmarks.faults.roster import SEAT_TIMEOUT
from benchmarks.faults.watch import Watch
from benchmarks.processes import StartError

WELL_WITHIN, RECOVERS_WITHIN = 40.0, 30.0
ENDED_WITHIN = 30.0 + SEAT_TIMEOUT
RUNNING = (
    "SELECT p.panel_id, c.seat_name, c.held_by, c.sent_at FROM evidence_call c JOIN evidence_panel p ON c.panel_id = p.id "
    "WHERE c.status = 'running'"
)
# Full panels of a bench that is well: enough that every kind of caller has begun.
FULL_BEFORE = 8


@dataclass
class Scene:
    """`problems` are what a fault found wrong by its own means, `notes` what else it saw. Seconds by time.monotonic."""

    tag: str
    bench: FaultyCluster | Alone
    upstream: RecordingUpstream
    load: Load
    began: float = 0.0
    undone: float = 0.0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    recovered: float | None = None
    none_runs: float | None = None
    runs_still: list[str] = field(default_factory=list)

    @property
    def cluster(self) -> FaultyCluster:
        assert isinstance(self.bench, FaultyCluster)
        return self.bench

    def part(self, name: str) -> Part:
        return self.bench.parts[name]

    def undo(self) -> None:
        """From now on nothing is broken, but for what has to start again."""
        self.undone = time.monotonic()


# Does a fault and undoes it.
Do = Callable[[Scene], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`may_lose`: a process that asks providers is broken, and what had come to it may be gone. `harmless`: all go on.

    `memory` is how many MiB any part may hold more than before.
    """

    name: str
    says: str
    do: Do
    may_lose: bool = False
    harmless: bool = False
    alone: bool = False
    memory: float = 150.0


async def played(scene: Scene, fault: Fault) -> Watch:
    """Have the fault done under load, and wait until the bench is well and its callers have been told."""
    scene.load.begin()
    began = time.monotonic()
    if await scene.load.full_since(began, WELL_WITHIN, FULL_BEFORE) is None:
        scene.problems.append("the bench was not well before")
    with Watch(scene.bench.parts, {scene.bench.folder, scene.bench.data}) as watch:
        scene.began = time.monotonic()
        await fault.do(scene)
        scene.recovered = await scene.load.full_since(scene.undone, RECOVERS_WITHIN)
        told = asyncio.ensure_future(scene.load.finish())
        scene.none_runs = await _none_runs(scene)
        await told
        await _all_stand(scene)
    return watch


async def _none_runs(scene: Scene) -> float | None:
    """When the last call had ended, in seconds since the fault was undone; None: they run still."""
    while (passed := time.monotonic() - scene.undone) < ENDED_WITHIN:
        rows = await asyncio.to_thread(scene.bench.rows, "SELECT count(*) FROM evidence_call WHERE status = 'running'")
        if rows == [(0,)] and not scene.load.asking:
            return passed
        await asyncio.sleep(0.5)
    rows = await asyncio.to_thread(scene.bench.rows, RUNNING)
    scene.runs_still = [f"{panel}.{seat} of {held or 'nobody'}, taken {taken}" for panel, seat, held, taken in rows]
    scene.runs_still += [f"{told.mark} ({told.kind.name}) waits: {told.replies}" for told in scene.load.told if not told.ended]
    return None


async def _all_stand(scene: Scene) -> None:
    for name, part in scene.bench.parts.items():
        if not part.runs():
            scene.problems.append(f"{name} has ended")
            continue
        try:
            await asyncio.to_thread(part.wait)
        except StartError:
            scene.problems.append(f"{name} is not ready again")
