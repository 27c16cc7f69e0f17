"""The evidence: panels with their answers, offloads and verdicts, some panels at a time, each time one transaction.

A run that is cut short is repeated from the beginning: what had come in is found and left as it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from django.db import IntegrityError

from evidence.moving_in.folder import CALLS, OFFLOADS, Folder
from evidence.moving_in.reading.calls import read_panel
from evidence.moving_in.reading.fields import UnusableError
from evidence.moving_in.reading.files import read_lines
from evidence.moving_in.reading.offloads import (
    content_digest,
    named_alone,
    panel_of,
    read_offload,
    seats_of,
    verdicts_of,
)
from evidence.moving_in.reading.values import OldOffload, OldPanel, OldVerdict
from evidence.moving_in.report import FileReport, Report
from evidence.moving_in.writing.known import Directory
from evidence.moving_in.writing.panels import PanelWriter
from evidence.moving_in.writing.plan import PanelPlan, plan_panels
from evidence.moving_in.writing.staging import Staging

# In one transaction: short enough for a server that wants to write meanwhile, and for texts of any size.
PANELS_AT_ONCE = 200
BYTES_AT_ONCE = 4_000_000
# A task in a few words, a note and some claims: those of many panels are held at once.
LONGEST_OFFLOAD = 250_000
# Each means that another run, or a person who judged or pruned, wrote the same panels between their plan and its writing.
MOST_LOST_RACES = 5

Progress = Callable[[str, int, int], None]
Batch = list[tuple[int, OldPanel]]


class EvidenceMover:
    """One run over both logs."""

    def __init__(self, folder: Folder, report: Report, directory: Directory, *, dry_run: bool, progress: Progress) -> None:
        self._folder, self._progress, self._dry_run = folder, progress, dry_run
        self._calls, self._offloads = report.of(CALLS), report.of(OFFLOADS)
        self._writer = PanelWriter(directory)

    def move(self) -> None:
        with closing(Staging()) as staging:
            self._stage(staging)
            for batch in self._panels(staging):
                self._settle(batch, staging)
            for panel_ids in staging.panels_left(PANELS_AT_ONCE):
                offloads = staging.of_panels(panel_ids)
                self._settle([(0, panel_of(offloads[panel_id])) for panel_id in panel_ids], staging)

    def _stage(self, staging: Staging) -> None:
        for line in read_lines(self._folder, self._offloads, self._told(OFFLOADS), longest=LONGEST_OFFLOAD):
            try:
                offload = read_offload(line.number, line.entry)
            except UnusableError as why:
                self._offloads.leave_out(line.number, str(why))
                continue
            if offload.panel_id:
                staging.add(offload)
            else:
                digest = content_digest(offload)
                staging.add(named_alone(offload, digest, staging.times(digest)), digest)

    def _panels(self, staging: Staging) -> Iterator[Batch]:
        """The panels of the gateway's log, each with its line, so many at once as are written at once."""
        batch: Batch = []
        size = 0
        for line in read_lines(self._folder, self._calls, self._told(CALLS)):
            try:
                panel = read_panel(line.entry, _telling(self._calls, line.number))
            except UnusableError as why:
                self._calls.leave_out(line.number, str(why))
                continue
            if not staging.finish(panel.panel_id):
                self._calls.leave_out(line.number, "its panel is in an earlier line")
                continue
            batch.append((line.number, panel))
            size += line.size
            if len(batch) >= PANELS_AT_ONCE or size >= BYTES_AT_ONCE:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _settle(self, batch: Batch, staging: Staging) -> None:
        offloads = staging.of_panels([panel.panel_id for _, panel in batch])
        seated = [_with_offloads(panel, offloads.get(panel.panel_id, ())) for _, panel in batch]
        lines = {panel.panel_id: line for line, panel in batch}
        judged = {panel.panel_id: _verdicts(offloads.get(panel.panel_id, ()), panel) for panel in seated}
        plans = self._written([panel for panel in seated if panel.seats], judged)
        for panel in seated:
            if not panel.seats:
                self._calls.leave_out(lines[panel.panel_id], "no seat of it can be read")
        for plan in plans:
            _count(plan, lines[plan.old.panel_id], self._calls)
            for offload in offloads.get(plan.old.panel_id, ()):
                _count_offload(plan, offload, self._offloads)

    def _written(self, panels: Sequence[OldPanel], judged: Mapping[str, Mapping[str, Sequence[OldVerdict]]]) -> list[PanelPlan]:
        for _ in range(MOST_LOST_RACES):
            plans = plan_panels(panels, judged)
            if self._dry_run or not any(plan.writes for plan in plans):
                return plans
            try:
                self._writer.write(plans)
            except IntegrityError as error:
                lost = error
            else:
                return plans
        raise lost

    def _told(self, path: str) -> Callable[[int], None]:
        size = self._folder.size(path)
        return lambda done: self._progress(path, done, size)


def _telling(report: FileReport, line: int) -> Callable[[str], None]:
    return lambda what: report.tell(line, what)


def _with_offloads(panel: OldPanel, offloads: Iterable[OldOffload]) -> OldPanel:
    """The panel with those seats too that its line does not have, and an offload has."""
    known = {seat.seat_name for seat in panel.seats}
    others = tuple(seat for seat in seats_of(offloads) if seat.seat_name not in known)
    return replace(panel, seats=(*panel.seats, *others)) if others else panel


def _verdicts(offloads: Iterable[OldOffload], panel: OldPanel) -> dict[str, Sequence[OldVerdict]]:
    by_seat: dict[str, list[OldOffload]] = {}
    for offload in offloads:
        by_seat.setdefault(offload.seat_name, []).append(offload)
    return {seat_name: verdicts_of(lines, panel.asked_at) for seat_name, lines in by_seat.items()}


def _count(plan: PanelPlan, line: int, report: FileReport) -> None:
    """Count the line of the gateway's log that a panel stands in, if it stands in one."""
    if not line:
        return
    if plan.is_foreign:
        report.keep(line, "a panel of this id was asked here")
    elif plan.fills or plan.seats:
        report.new += 1
    else:
        report.unchanged += 1


def _count_offload(plan: PanelPlan, offload: OldOffload, report: FileReport) -> None:
    if plan.is_foreign:
        report.keep(offload.line, "a panel of this id was asked here")
    elif plan.is_new(offload.seat_name) or any(
        verdict.place == offload.line for judged in plan.judged for verdict in judged.verdicts
    ):
        report.new += 1
    elif offload.useful is not None and (what := plan.kept.get(offload.seat_name)):
        report.keep(offload.line, what)
    else:
        report.unchanged += 1
