"""The table of faults: a row a fault, a column a proof, and below it what is wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.faults.proofs import Evidence
from benchmarks.faults.scene import Fault, Scene
from benchmarks.faults.watch import Watch

DISK_MIB = 200.0
SHOWN = 4
COLUMNS = ("full", "meanwhile", "kept", "ids", "once", "1 panel", "told", "none runs", "memory", "disk", "recovered")
ABOUT = """\
full: panels whose caller got every seat's answer, of all; meanwhile: of those asked while it was broken. kept: every answer
that a caller was given, or a provider gave to its end, is in the log, whole. ids: each that left has its row. once: no
provider received a call twice. 1 panel: of what was sent again, nothing ran another. told: whoever had a key was told in the
end. none runs: seconds after it was undone. memory: the most that a part held beyond before, in MiB; disk: the same of all
folders. recovered: seconds until a panel asked after it was undone had been answered in full."""


@dataclass
class Row:
    name: str
    cells: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def put(self, column: str, cell: str, wrong: Iterable[str] = ()) -> None:
        self.wrong[column] = list(wrong)
        self.cells[column] = f"{len(self.wrong[column])} WRONG" if self.wrong[column] else cell

    @property
    def is_green(self) -> bool:
        return not any(self.wrong.values())

    def as_dict(self) -> dict[str, Any]:
        return {"fault": self.name, "green": self.is_green, "cells": self.cells, "wrong": self.wrong, "notes": self.notes}


def row_of(fault: Fault, scene: Scene, watch: Watch, evidence: Evidence) -> Row:
    row = Row(fault.name, notes=scene.notes)
    told = scene.load.told
    meanwhile = [one for one in told if scene.began <= one.began < scene.undone]
    row.put("full", f"{sum(one.is_full for one in told)}/{len(told)}", scene.problems)
    harmed = [f"{one.mark} ({one.kind.name}): {one.replies}" for one in meanwhile if fault.harmless and not one.is_full]
    row.put("meanwhile", f"{sum(one.is_full for one in meanwhile)}/{len(meanwhile)}", harmed)
    row.put("kept", f"{evidence.answers} ok", evidence.answers_lost(may_lose=fault.may_lose))
    row.put("ids", f"{sum(len(one.ids) for one in told)} ok", evidence.ids_unknown())
    row.put("once", f"{evidence.calls} ok", evidence.asked_twice())
    row.put("1 panel", f"{sum(one.tries > 1 for one in told)} ok", evidence.panels_twice())
    row.put("told", f"{sum(one.kind.keyed for one in told)} ok", evidence.badly_told())
    row.put("none runs", f"{scene.none_runs or 0:.0f} s", scene.runs_still or _too_late(scene))
    row.put("memory", *_memory(fault, watch.memory))
    row.put("disk", f"+{watch.disk:.0f}", [f"{watch.disk:.0f} MiB more on disk"] if watch.disk > DISK_MIB else [])
    late = ["no panel was answered in full within 30 s"] if scene.recovered is None else []
    row.put("recovered", f"{scene.recovered or 0:.1f} s", late)
    return row


def _too_late(scene: Scene) -> list[str]:
    return [] if scene.none_runs is not None else ["only just ended, 30 s and a seat's time-out after it was undone"]


def _memory(fault: Fault, memory: Mapping[str, float]) -> tuple[str, list[str]]:
    part, most = max(memory.items(), key=lambda held: held[1])
    over = [f"{name} held {held:.0f} MiB more" for name, held in memory.items() if held > fault.memory]
    return f"+{most:.0f} {part}", over


def printed(rows: Iterable[Row]) -> str:
    """The table, and below it what is wrong and what else was seen."""
    rows = list(rows)
    lines = [["fault", *COLUMNS], *([row.name, *(row.cells.get(column, "") for column in COLUMNS)] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([*table, "", *_remarks(rows), "", ABOUT])


def _remarks(rows: Iterable[Row]) -> Iterable[str]:
    for row in rows:
        for note in row.notes:
            yield f"{row.name}: {note}"
        for column, wrong in row.wrong.items():
            yield from (f"{row.name}: {column}: WRONG: {one}" for one in wrong[:SHOWN])
            if len(wrong) > SHOWN:
                yield f"{row.name}: {column}: and {len(wrong) - SHOWN} more"
