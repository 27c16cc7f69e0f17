"""`python manage.py import_benchwarmers DIR`: move in from Benchwarmers, the file-based predecessor."""

import sqlite3
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from collections_app.catalog.merge import merge_all
from collections_app.management.base import BenchCommand, write_over
from evidence.moving_in.folder import MODELS, Folder, NotABenchError
from evidence.moving_in.moving import move_in
from evidence.moving_in.report import Report

SHOWN_EVERY = 0.2
HELP = """\
Bring over a data folder of Benchwarmers, the file-based predecessor: endpoints, models, collections, limits, decision
models and gateway keys (they stay valid), and every panel, call, offload and verdict as evidence.

What stands here already is kept as it stands, and told. A bad line is told and left out, and the rest comes in. A second
run writes nothing; after more was asked there, it brings over that alone. A server may go on running meanwhile.

Providers' keys are never taken from a file: for each endpoint it is told which environment variable to set.
"""


class Command(BenchCommand):
    help = HELP
    example = "python manage.py import_benchwarmers ~/.local/share/benchwarmers --dry-run"
    reports = True
    _shown_at = 0.0

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="its data folder, the one with config/ and metrics/ in it")
        parser.add_argument("--dry-run", action="store_true", help="report the same, and write nothing")

    def handle(self, *args: Any, folder: Path, dry_run: bool, **options: Any) -> None:
        try:
            report = move_in(Folder(folder), dry_run=dry_run, progress=self._progress)
        except NotABenchError as refused:
            raise CommandError(f"nothing was brought over: {refused}") from refused
        except (DatabaseError, sqlite3.Error) as failed:
            # This bench's database, or the one on disk in which offloads wait: locked, full, or overtaken by another writer.
            raise CommandError(f"not all was brought over: {failed}. What had come in stays; run it again.") from failed
        finally:
            write_over(self.stderr, "")
        if report.of(MODELS).new and not dry_run:
            # What catalogs know already of models that are new here.
            merge_all()
        fields = {"written": bool(report.new) and not dry_run, "files": [one.as_dict() for one in report.files]}
        self.report(fields, _text(report, dry_run), as_json=options["json"])

    def _progress(self, path: str, done: int, size: int) -> None:
        if time.monotonic() - self._shown_at >= SHOWN_EVERY:
            self._shown_at = time.monotonic()
            share = f" {min(done / size, 1):4.0%}" if size else ""
            write_over(self.stderr, f"{path}{share}")


def _text(report: Report, dry_run: bool) -> str:
    told = [line for one in report.files for line in one.lines()]
    if dry_run:
        told.append("Dry run: nothing was written.")
    elif not report.new:
        told.append("Nothing new: nothing was written.")
    return "\n".join(told)
