"""What became of each file: how many entries were read, new, unchanged, kept as they stand here or left out, and why.

Names places and reasons; never what stands in a prompt, an answer or a key.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

# A file of a million bad lines must not become a report of a million: past this many, reasons are counted alone.
MOST_TOLD = 1_000
LONGEST_PLACE = 60


@dataclass
class FileReport:
    """One file's: `read` is how many of its lines or entries were looked at, and the sum of the four after it.

    `within_models`: what it says of models came over, or not, with those that it names, and is counted there.
    """

    path: str
    read: int = 0
    new: int = 0
    unchanged: int = 0
    kept: int = 0
    left_out: int = 0
    told: list[str] = field(default_factory=list)
    untold: Counter[str] = field(default_factory=Counter)
    missing: bool = False
    within_models: bool = False

    def leave_out(self, place: int | str, why: str) -> None:
        """Note an entry that cannot come in; `place` is its line or its name."""
        self.left_out += 1
        self.tell(place, f"left out: {why}")

    def keep(self, place: int | str, what: str) -> None:
        """Note an entry that stands here already and says something else."""
        self.kept += 1
        self.tell(place, f"kept as it stands here: {what}")

    def tell(self, place: int | str, what: str) -> None:
        """Note something to know about an entry that came in all the same."""
        if len(self.told) < MOST_TOLD:
            self.told.append(f"{self.path}{_colon(place)}: {what}")
        else:
            self.untold[what] += 1

    @property
    def summary(self) -> str:
        """The counts as a person reads them."""
        if self.missing:
            return f"{self.path}: not there"
        counts = (("new", self.new), ("unchanged", self.unchanged), ("kept", self.kept), ("left out", self.left_out))
        told = ["with the models that it names"] if self.within_models and self.read else []
        return ", ".join([f"{self.path}: {self.read:,} read", *(f"{count:,} {word}" for word, count in counts if count), *told])

    def lines(self) -> list[str]:
        """The summary, and below it what there is to know of entries."""
        more = [f"  ... and {times:,} times more: {what}" for what, times in self.untold.items()]
        return [self.summary, *(f"  {line}" for line in self.told), *more]

    def as_dict(self) -> dict[str, Any]:
        counted = {name: getattr(self, name) for name in ("path", "missing", "read", "new", "unchanged", "kept", "left_out")}
        return {**counted, "told": self.told, "untold": dict(self.untold)}


@dataclass
class Report:
    """Every file's, in the order in which they were read."""

    files: list[FileReport] = field(default_factory=list)

    def of(self, path: str) -> FileReport:
        """The report of one file, begun when it is first asked for."""
        found = next((one for one in self.files if one.path == path), None)
        if found is None:
            found = FileReport(path)
            self.files.append(found)
        return found

    def within_models(self, path: str) -> FileReport:
        """The report of a file that only adds to what another says of models."""
        found = self.of(path)
        found.within_models = True
        return found

    @property
    def new(self) -> int:
        return sum(one.new for one in self.files)


def _colon(place: int | str) -> str:
    """A line as editors open it; a name on one line, cut where it is long."""
    if isinstance(place, int):
        return f":{place}"
    shown = place if place.isprintable() and place.isascii() else ascii(place)[1:-1]
    return f": {shown if len(shown) <= LONGEST_PLACE else shown[: LONGEST_PLACE - 3] + '...'}" if place else ""
