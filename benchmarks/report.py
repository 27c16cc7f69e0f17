"""The table for people: the product beside its targets and beside the bare fan-out, and beside an earlier run.

Only words and columns; the figures are results.py's.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.peers.litellm_proxy import NAME as PEER
from benchmarks.results import Results, Summary
from benchmarks.scenarios import SCENARIOS


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one scenario, and its target: at most, at least, or at least so many times the peer's.

    `floor_then` is the fan-out's figure on the machine that the target was set on.
    """

    scenario: str
    figure: str
    label: str
    target: float | None = None
    sense: Literal["<=", ">=", "times"] = "<="
    floor_then: float | None = None
    digits: int = 1


# Above it, something else had the machine before the run began.
QUIET_LOAD = 0.5

LINES = (
    Line("latency", "added_p50_ms", "added latency p50, ms", 8, floor_then=3.6),
    Line("latency", "added_p99_ms", "added latency p99, ms", 30, floor_then=10),
    Line("load8", "panels_per_second", "panels a second, 8 callers"),
    Line("load8", "cpu_ms", "server CPU a panel, 8 callers, ms", 13, floor_then=2.7),
    Line("load32", "panels_per_second", "panels a second, 32 callers", 120, ">="),
    Line("load32", "cpu_ms", "server CPU a panel, 32 callers, ms"),
    Line("load32", "panels_per_cpu_second", "panels a CPU-second, 32 callers", 4, "times"),
    Line("load32", "panel_p99_ms", "slowest 1 % of panels, 32 callers, ms", digits=0),
    Line("load64", "panels_per_second", "panels a second, 64 callers", 120, ">="),
    # Of equals, one is a little less: a twentieth is the machine's.
    Line("load64", "over_32", "panels a second, 64 callers over 32", 0.95, ">=", digits=2),
    Line("load64", "panels_per_cpu_second", "panels a CPU-second, 64 callers", 4, "times"),
    Line("load64", "panel_p99_ms", "slowest 1 % of panels, 64 callers, ms", digits=0),
    Line("explorers", "panels_per_second", "panels a second, 2 explorers, 8 callers"),
    Line("explorers", "cpu_ms", "server CPU a panel, 2 explorers, ms"),
    Line("stream", "first_byte_ms", "stream, first byte p50, ms"),
    Line("stream", "first_byte_p99_ms", "stream, first byte p99, ms", 25),
    Line("stream", "first_section_ms", "stream, first answer (a 50 ms seat), ms"),
    Line("stream", "whole_ms", "stream, whole (a 100 ms seat), ms"),
    Line("stream20", "first_byte_ms", "20 streams at once, first byte p50, ms", 25),
    Line("stream20", "first_byte_p99_ms", "20 streams at once, first byte p99, ms"),
    Line("stream20", "first_byte_worst_ms", "20 streams at once, first byte, slowest, ms"),
    Line("stream20", "first_section_ms", "20 streams at once, first answer, ms"),
    Line("burst", "wall_s", "200 panels at once, 5 s seats, s", 6.5, digits=2),
    Line("burst", "peak_mib", "200 panels at once, peak memory, MiB", 350, digits=0),
    Line("burst", "errors", "200 panels at once, errors", 0, digits=0),
)


def report(results: Results, *, before: dict[str, Summary] | None = None) -> str:
    """The whole report; `before` is an earlier run's summary, shown beside this one."""
    return "\n".join([*_heading(results), "", *_table(results, before), "", *_notes(results, before)])


def missed(results: Results) -> list[str]:
    """The labels of the targets that were measured and not met."""
    summary = results.summary()
    return [line.label for line in LINES if _met(line, summary.get(line.scenario, {})) is False]


def _heading(results: Results) -> Iterator[str]:
    where = results.machine
    runs_on = f"{where['cores']} cores, Python {where['python']}, {where['system']}"
    yield f"Benchsite {where['commit']}: {runs_on}, load {where['load_before']} before"
    beside = f"product, bare fan-out and {PEER}" if where["peers"] else "product and bare fan-out"
    yield f"{where['rounds']} rounds, {beside} in turn; medians. Answers of 2 kB in {where['chunks']} events."


def _table(results: Results, before: dict[str, Summary] | None) -> Iterator[str]:
    summary = results.summary()
    peer = f"{PEER:>10}{'ratio':>8}" if results.machine["peers"] else ""
    earlier = f"{'before':>10}{'change':>9}" if before else ""
    yield f"{'':43}{'product':>9}{'target':>10}{'':9}{'fan-out':>9}{'ratio':>8}{peer}{earlier}"
    for line in LINES:
        if line.scenario in summary:
            was = (before or {}).get(line.scenario) if before else None
            yield _row(line, summary[line.scenario], was, peer=bool(peer))


def _row(line: Line, now: Summary, before: Summary | None, *, peer: bool) -> str:
    product, floor = _value(now, "product", line), _value(now, "floor", line)
    shown = f"{line.label:43}{_number(product, line):>9}{_target(line):>10} {_VERDICTS[_met(line, now)]:8}"
    shown += f"{_number(floor, line):>9}{_number(_ratio(product, floor), line, digits=2):>8}"
    if peer:
        peers = _value(now, PEER, line)
        shown += f"{_number(peers, line):>10}{_number(_ratio(product, peers), line, digits=2):>8}"
    if before is not None:
        was = _value(before, "product", line)
        # Against the fan-out of the same run: the machine itself drifts between runs.
        change = _ratio(_ratio(product, floor), _ratio(was, _value(before, "floor", line))) - 1
        shown += f"{_number(was, line):>10}{'' if math.isnan(change) else f'{change:+.0%}':>9}"
    return shown.rstrip()


_VERDICTS = {True: "ok", False: "MISSED", None: ""}


def _target(line: Line) -> str:
    if line.target is None:
        return ""
    return f"{line.target:g}x {PEER}" if line.sense == "times" else f"{line.sense} {line.target:g}"


def _met(line: Line, now: Summary) -> bool | None:
    """Whether the target is met; None where there is none, or nothing to hold to it."""
    product = _value(now, "product", line)
    if line.sense == "times":
        product = _ratio(product, _value(now, PEER, line))
    if line.target is None or math.isnan(product):
        return None
    return product <= line.target if line.sense == "<=" else product >= line.target


def _value(summary: Summary, server: str, line: Line) -> float:
    return summary.get(server, {}).get(line.figure, math.nan)


def _ratio(value: float, other: float) -> float:
    return value / other if other and not math.isnan(other) else math.nan


def _number(value: float, line: Line, digits: int | None = None) -> str:
    return "" if math.isnan(value) else f"{value:.{line.digits if digits is None else digits}f}"


def _notes(results: Results, before: dict[str, Summary] | None) -> Iterator[str]:
    for scenario in results.rounds:
        if workers := SCENARIOS[scenario].seat_workers:
            yield f"{scenario}: a server of its own with BENCH_SEAT_WORKERS={workers}; the others run with the default."
    yield from _faster_machine(results.summary())
    if not results.machine["peers"]:
        yield f"{PEER} was not measured: `make bench PEERS=1` installs it, and a quick run leaves it out."
    if before:
        yield "change: of the product's ratio to the fan-out, so that a slower or busier machine does not count."
    held = sum(_met(line, results.summary().get(line.scenario, {})) is not None for line in LINES)
    short = missed(results)
    yield f"{held - len(short)} of {held} targets met." + (f" SHORT: {'; '.join(short)}." if short else "")
    panels = sum(int(figures["panels"]) for servers in results.summary().values() for figures in servers.values())
    errors = results.errors()
    failed = sum(len(each) for each in errors.values())
    yield f"{panels} panels, {failed} errors (refused, cut short, or a seat without its answer)."
    if (busy := results.machine["load_before"]) > QUIET_LOAD:
        yield f"WARNING the machine was busy before the run (load {busy}): measure again when it is not."
    for where, each in errors.items():
        for text, count in Counter(error[:300] for error in each).most_common(3):
            yield f"ERROR {where}: {count} x {text}"


def _faster_machine(summary: dict[str, Summary]) -> Iterator[str]:
    """The targets in milliseconds were set on one machine; what they ask of this one is the same ratio."""
    for line in LINES:
        product, floor = (_value(summary.get(line.scenario, {}), server, line) for server in ("product", "floor"))
        if line.target is None or line.floor_then is None or math.isnan(_ratio(product, floor)):
            continue
        yield (
            f"{line.label}: the target is {line.target / line.floor_then:.1f} times the {line.floor_then:g} of the fan-out "
            f"where it was set; here the fan-out takes {floor:.1f}, and the product {product / floor:.1f} times that."
        )
