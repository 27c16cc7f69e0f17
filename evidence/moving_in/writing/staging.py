"""The offloads, kept in a temporary database on disk until their panels come: a log of any size needs no more memory.

It goes with the process; nothing of it is the bench's.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime

from evidence.moving_in.reading.values import OldOffload

_TABLES = """
CREATE TABLE offload (line INTEGER PRIMARY KEY, panel TEXT NOT NULL, digest TEXT, said TEXT NOT NULL);
CREATE INDEX of_panel ON offload (panel);
CREATE INDEX same ON offload (digest) WHERE digest IS NOT NULL;
CREATE TABLE done (panel TEXT PRIMARY KEY) WITHOUT ROWID;
"""


# After the moment, which JSON does not have.
_SAID = ("seat_name", "alias", "task", "note", "useful", "real", "false")


class Staging:
    """Offloads by panel, and which panels are done with."""

    def __init__(self) -> None:
        # No name: a file of its own that no other process can open, and that is gone when this is closed.
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_TABLES)
        self._database.execute("PRAGMA cache_size=-8000")
        self._database.execute("BEGIN")

    def close(self) -> None:
        self._database.close()

    def add(self, offload: OldOffload, digest: str | None = None) -> None:
        """Keep one; `digest` is that of what it says, for one that names no call."""
        said = json.dumps([offload.at.isoformat(), *(getattr(offload, name) for name in _SAID)])
        self._database.execute("INSERT INTO offload VALUES (?, ?, ?, ?)", (offload.line, offload.panel_id, digest, said))

    def times(self, digest: str) -> int:
        """How many kept ones say the same."""
        return int(self._database.execute("SELECT COUNT(*) FROM offload WHERE digest = ?", (digest,)).fetchone()[0])

    def of_panels(self, panels: Sequence[str]) -> dict[str, list[OldOffload]]:
        """The offloads of each panel in the order of their lines; panels without any are left away."""
        places = ", ".join("?" * len(panels))
        chosen = f"SELECT line, panel, said FROM offload WHERE panel IN ({places}) ORDER BY line"  # noqa: S608 (places alone)
        found: dict[str, list[OldOffload]] = {}
        for line, panel, said in self._database.execute(chosen, panels):
            found.setdefault(panel, []).append(_offload(line, panel, said))
        return found

    def finish(self, panel: str) -> bool:
        """Note that a panel is done with; returns whether it was not yet."""
        return self._database.execute("INSERT OR IGNORE INTO done VALUES (?)", (panel,)).rowcount == 1

    def panels_left(self, at_once: int) -> Iterator[list[str]]:
        """The panels that nobody has finished, in the order of their first lines, so many at a time."""
        rows = self._database.execute(
            "SELECT panel FROM offload WHERE panel NOT IN (SELECT panel FROM done) GROUP BY panel ORDER BY MIN(line)"
        )
        while some := [panel for (panel,) in rows.fetchmany(at_once)]:
            yield some


def _offload(line: int, panel_id: str, said: str) -> OldOffload:
    at, seat_name, alias, task, note, useful, real, false = json.loads(said)
    return OldOffload(
        line=line,
        panel_id=panel_id,
        seat_name=seat_name,
        alias=alias,
        at=datetime.fromisoformat(at),
        task=task,
        note=note,
        useful=useful,
        real=tuple(real),
        false=tuple(false),
    )
