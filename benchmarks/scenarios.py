"""What is measured: each scenario drives one server for one round and returns its figures.

A figure's name says its unit. Starts no server and judges nothing against a target.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.driver import Load, callers, load
from benchmarks.processes import Server
from benchmarks.roster import SLOWEST

PROMPT = (
    "Two workers read a row, both add one, both write it back. Name every way to keep the count right, and what each costs. "
    * 4
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured: every phase ends at its count or at its seconds, whichever is first."""

    rounds: int
    single_panels: int
    load_seconds: float
    stream_panels: int
    stream_waves: int = 10
    burst_panels: int = 200
    most_seconds: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One server's figures of one round; `raw` holds seconds per panel."""

    figures: dict[str, float]
    panels: int
    errors: list[str]
    raw: dict[str, list[float]] = field(default_factory=dict)


Measure = Callable[[Server, Plan], Awaitable[Round]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    name: str
    measure: Measure
    about: str
    # Whether the peers can be asked it.
    peers: bool = False
    # The product's BENCH_SEAT_WORKERS, where its default would make callers wait for a seat.
    seat_workers: int | None = None
    rounds: int | None = None


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of them do not exceed; NaN for none."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))] if ranked else float("nan")


def body(collection: str, *, stream: bool = False) -> dict[str, Any]:
    asked: dict[str, Any] = {"model": collection, "messages": [{"role": "user", "content": PROMPT}]}
    return {**asked, "stream": True} if stream else asked


async def added_latency(server: Server, plan: Plan) -> Round:
    """One caller: how much longer than the slowest seat's upstream a panel takes."""
    asked, slowest = body(server.model_for("bench/five")), SLOWEST["bench/five"]
    async with callers() as session:
        await load(session, server.url, asked, concurrency=1, panels=5, seconds=plan.most_seconds)
        seen = await load(session, server.url, asked, concurrency=1, panels=plan.single_panels, seconds=plan.most_seconds)
    added = [panel.seconds - slowest for panel in seen.panels if not panel.error]
    figures = {"added_p50_ms": 1000 * percentile(added, 0.5)}
    return Round(figures=figures, panels=len(seen.panels), errors=seen.errors, raw={"added_seconds": added})


def at_once(concurrency: int, collection: str = "bench/five") -> Measure:
    async def throughput(server: Server, plan: Plan) -> Round:
        """So many callers, each asking again at once: panels a second, and the server's CPU for each."""
        asked = body(server.model_for(collection))
        async with callers() as session:
            await load(session, server.url, asked, concurrency=concurrency, panels=2 * concurrency, seconds=plan.most_seconds)
            before = server.cpu_seconds()
            seen = await load(session, server.url, asked, concurrency=concurrency, panels=100_000, seconds=plan.load_seconds)
            spent = server.cpu_seconds() - before
        answered = len(seen.panels) - len(seen.errors)
        figures = {
            "panels_per_second": answered / seen.seconds,
            "cpu_ms": 1000 * spent / max(1, answered),
            "panels_per_cpu_second": answered / spent if spent else float("nan"),
        }
        return Round(figures=figures, panels=len(seen.panels), errors=seen.errors, raw=_seconds(seen))

    return throughput


async def burst(server: Server, plan: Plan) -> Round:
    """Everybody at once, on seats that take five seconds."""
    warm_up, asked, count = body(server.model_for("bench/five")), body(server.model_for("bench/slow5")), plan.burst_panels
    async with callers() as session:
        await load(session, server.url, warm_up, concurrency=1, panels=3, seconds=plan.most_seconds)
    before = server.cpu_seconds()
    async with callers() as session:
        seen = await load(session, server.url, asked, concurrency=count, panels=count, seconds=plan.most_seconds)
    spent = server.cpu_seconds() - before
    figures = {"wall_s": seen.seconds, "peak_mib": server.peak_mib(), "cpu_ms": 1000 * spent / len(seen.panels)}
    return Round(figures=figures, panels=len(seen.panels), errors=seen.errors, raw=_seconds(seen))


def streams(at_once: int) -> Measure:
    async def first_bytes(server: Server, plan: Plan) -> Round:
        """So many streams asked for in one moment, and again when all have ended: when each one's first byte comes, and
        the text of its first seat (which takes 50 ms)."""
        asked, waves = body("bench/five", stream=True), max(plan.stream_waves, plan.stream_panels // at_once)
        async with callers() as session:
            seen = [
                await load(session, server.url, asked, concurrency=at_once, panels=at_once, seconds=plan.most_seconds)
                for _ in range(2 + waves)
            ]
        panels = [panel for wave in seen[2:] for panel in wave.panels]
        well = [panel for panel in panels if not panel.error]
        first_byte = [panel.first_byte for panel in well if panel.first_byte is not None]
        first_section = [panel.first_section for panel in well if panel.first_section is not None]
        figures = {
            "first_byte_ms": 1000 * percentile(first_byte, 0.5),
            "first_section_ms": 1000 * percentile(first_section, 0.5),
            "whole_ms": 1000 * percentile([panel.seconds for panel in well], 0.5),
        }
        raw = {"first_byte_seconds": first_byte, "first_section_seconds": first_section}
        return Round(figures=figures, panels=len(panels), errors=[one.error for one in panels if one.error], raw=raw)

    return first_bytes


def _seconds(seen: Load) -> dict[str, list[float]]:
    return {"panel_seconds": [panel.seconds for panel in seen.panels if not panel.error]}


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(name="latency", measure=added_latency, about="five seats, one caller", peers=True),
        Scenario(name="load8", measure=at_once(8), about="five seats, 8 callers", peers=True),
        Scenario(name="load32", measure=at_once(32), about="five seats, 32 callers", peers=True),
        Scenario(name="load64", measure=at_once(64), about="five seats, 64 callers", peers=True),
        Scenario(name="explorers", measure=at_once(8, "bench/explore"), about="three members, two explorers, 8 callers"),
        Scenario(name="stream", measure=streams(1), about="five seats streamed, one caller"),
        Scenario(name="stream20", measure=streams(20), about="five seats streamed, 20 at once"),
        Scenario(name="burst", measure=burst, about="200 panels at once on 5 s seats", peers=True, seat_workers=1200, rounds=1),
    )
}
