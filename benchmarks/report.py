"""The table for people: the product beside its targets and beside the bare fan-out, and beside an earlier run.

Only words and columns; the figures are results.py's.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.results import Results, Summary
from benchmarks.scenarios import SCENARIOS


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one scenario. `most` is the target, `floor_then` the fan-out's figure on the machine it was set on."""

    scenario: str
    figure: str
    label: str
    most: float | None = None
    floor_then: float | None = None
    digits: int = 1


# Above it, something else had the machine before the run began.
QUIET_LOAD = 0.5

LINES = (
    Line("latency", "added_p50_ms", "added latency p50, ms", 12, 3.6),
    Line("latency", "added_p99_ms", "added latency p99, ms", 50, 10),
    Line("load8", "panels_per_second", "panels a second, 8 callers"),
    Line("load8", "cpu_ms", "server CPU a panel, 8 callers, ms", 13, 2.7),
    Line("load32", "panels_per_second", "panels a second, 32 callers"),
    Line("load32", "cpu_ms", "server CPU a panel, 32 callers, ms"),
    Line("load32", "panel_p99_ms", "slowest 1 % of panels, 32 callers, ms", digits=0),
    Line("explorers", "panels_per_second", "panels a second, 2 explorers, 8 callers"),
    Line("explorers", "cpu_ms", "server CPU a panel, 2 explorers, ms"),
    Line("stream", "first_byte_ms", "stream, first byte, ms", 30),
    Line("stream", "first_section_ms", "stream, first answer (a 50 ms seat), ms"),
    Line("stream", "whole_ms", "stream, whole (a 100 ms seat), ms"),
    Line("burst", "wall_s", "200 panels at once, 5 s seats, s", 7, digits=2),
    Line("burst", "peak_mib", "200 panels at once, peak memory, MiB", 350, digits=0),
    Line("burst", "errors", "200 panels at once, errors", 0, digits=0),
)


def report(results: Results, *, before: dict[str, Summary] | None = None) -> str:
    """The whole report; `before` is an earlier run's summary, shown beside this one."""
    return "\n".join([*_heading(results), "", *_table(results.summary(), before), "", *_notes(results, before)])


def _heading(results: Results) -> Iterator[str]:
    where = results.machine
    runs_on = f"{where['cores']} cores, Python {where['python']}, {where['system']}"
    yield f"Benchsite {where['commit']}: {runs_on}, load {where['load_before']} before"
    yield f"{where['rounds']} rounds, product and bare fan-out in turn; medians. Answers of 2 kB in {where['chunks']} events."


def _table(summary: dict[str, Summary], before: dict[str, Summary] | None) -> Iterator[str]:
    earlier = f"{'before':>10}{'change':>9}" if before else ""
    yield f"{'':42}{'product':>10}{'target':>9}{'':9}{'fan-out':>10}{'ratio':>8}{earlier}"
    for line in LINES:
        if line.scenario in summary:
            yield _row(line, summary[line.scenario], (before or {}).get(line.scenario) if before else None)


def _row(line: Line, now: Summary, before: Summary | None) -> str:
    product, floor = _value(now, "product", line), _value(now, "floor", line)
    target = "" if line.most is None else f"<= {line.most:g}"
    shown = f"{line.label:42}{_number(product, line):>10}{target:>9} {_verdict(line, product):8}"
    shown += f"{_number(floor, line):>10}{_number(_ratio(product, floor), line, digits=2):>8}"
    if before is not None:
        was = _value(before, "product", line)
        # Against the fan-out of the same run: the machine itself drifts between runs.
        change = _ratio(_ratio(product, floor), _ratio(was, _value(before, "floor", line))) - 1
        shown += f"{_number(was, line):>10}{'' if math.isnan(change) else f'{change:+.0%}':>9}"
    return shown.rstrip()


def _verdict(line: Line, product: float) -> str:
    if line.most is None or math.isnan(product):
        return ""
    return "ok" if product <= line.most else "MISSED"


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
    if before:
        yield "change: of the product's ratio to the fan-out, so that a slower or busier machine does not count."
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
        if line.most is None or line.floor_then is None or math.isnan(_ratio(product, floor)):
            continue
        yield (
            f"{line.label}: the target is {line.most / line.floor_then:.1f} times the {line.floor_then:g} of the fan-out "
            f"where it was set; here the fan-out takes {floor:.1f}, and the product {product / floor:.1f} times that."
        )
