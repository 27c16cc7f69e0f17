"""What a run found: rounds by scenario and server, their medians, and the file that keeps them.

Measures nothing; how it looks is report.py.
"""

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from benchmarks.processes import ROOT
from benchmarks.scenarios import Round, percentile

# server name -> figure -> value
Summary = dict[str, dict[str, float]]

# Of everything a server answered in the run, not the median of rounds: a round is too short to have a 99th percentile.
POOLED = {"added_seconds": "added", "panel_seconds": "panel", "first_byte_seconds": "first_byte"}


@dataclass(slots=True)
class Results:
    """Rounds as they come in: scenario -> server -> rounds."""

    machine: dict[str, Any]
    rounds: dict[str, dict[str, list[Round]]] = field(default_factory=dict)

    def add(self, scenario: str, server: str, measured: Round) -> None:
        self.rounds.setdefault(scenario, {}).setdefault(server, []).append(measured)

    def summary(self) -> dict[str, Summary]:
        """Scenario -> server -> figure."""
        found = {
            scenario: {server: summarise(rounds) for server, rounds in servers.items()}
            for scenario, servers in self.rounds.items()
        }
        for server, figures in found.get("load64", {}).items():
            if fewer := found.get("load32", {}).get(server):
                figures["over_32"] = figures["panels_per_second"] / fewer["panels_per_second"]
        return found

    def errors(self) -> dict[str, list[str]]:
        """What went wrong, by "scenario, server", nothing where all went well."""
        found = {
            f"{scenario}, {server}": [error for measured in rounds for error in measured.errors]
            for scenario, servers in self.rounds.items()
            for server, rounds in servers.items()
        }
        return {where: errors for where, errors in found.items() if errors}

    def write(self, path: Path) -> None:
        """Keep everything as JSON: the machine, the medians, and every round with its raw seconds."""
        rounds = {
            scenario: {server: [asdict(measured) for measured in rounds] for server, rounds in servers.items()}
            for scenario, servers in self.rounds.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        found = {"machine": self.machine, "summary": self.summary(), "rounds": rounds}
        # A figure that no panel gave is NaN, which is not JSON: orjson writes null.
        path.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def summarise(rounds: Sequence[Round]) -> dict[str, float]:
    """Medians over rounds, totals of panels and errors, and the percentiles of all panels together."""
    figures = {name: median(measured.figures[name] for measured in rounds) for name in rounds[0].figures}
    for series, name in POOLED.items():
        pooled = [seconds for measured in rounds for seconds in measured.raw.get(series, ())]
        if pooled:
            figures[f"{name}_p99_ms"] = 1000 * percentile(pooled, 0.99)
            figures[f"{name}_worst_ms"] = 1000 * max(pooled)
    panels, errors = (sum(counts) for counts in zip(*((each.panels, len(each.errors)) for each in rounds), strict=True))
    return {**figures, "panels": panels, "errors": errors}


def read_summary(path: Path) -> dict[str, Summary]:
    """The medians that an earlier run kept. Raises OSError, ValueError, KeyError, AttributeError, TypeError."""
    summary = orjson.loads(path.read_bytes())["summary"]
    return {
        scenario: {
            server: {name: value for name, value in figures.items() if value is not None} for server, figures in servers.items()
        }
        for scenario, servers in summary.items()
    }


def machine() -> dict[str, Any]:
    """Where and when this runs, and how busy the machine was before."""
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
    }


def _commit() -> str:
    """The commit that is checked out, with a plus when files differ from it; empty outside git."""
    try:
        return subprocess.run(
            ["git", "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
