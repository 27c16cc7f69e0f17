"""python manage.py load_bench bench.toml: endpoints, models, collections, shapes and limits from a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collections_app.catalog.merge import merge_all
from collections_app.management.base import BenchCommand
from collections_app.services.bench_file import BenchFileError, read_bench
from collections_app.services.bench_load import load_bench

HELP = """\
Load endpoints, models, collections, shapes and limits from a TOML or JSON file.

A row that the file names becomes what the file says of it: keys left out take their defaults. Rows that the file does
not name stay as they are: loading never deletes (retire a model with status = "retired"). All or nothing: with any
mistake in the file nothing changes, and every mistake is told. Loading the same file again changes nothing.
"""


class Command(BenchCommand):
    help = HELP
    example = "python manage.py load_bench bench.toml --dry-run"
    reports = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a .toml or .json file, as dump_bench writes it")
        parser.add_argument("--dry-run", action="store_true", help="tell what would change, and change nothing")

    def handle(self, *args: Any, file: Path, dry_run: bool, **options: Any) -> None:
        try:
            changes = load_bench(read_bench(file), dry_run=dry_run)
        except BenchFileError as refused:
            raise CommandError(f"nothing was loaded:\n{refused}") from refused
        if changes and not dry_run:
            # What catalogs know already of models that are new here.
            merge_all()
        ending = ["Dry run: nothing was written."] if changes and dry_run else []
        told = "\n".join([*changes, *ending]) or "Nothing changed."
        self.report({"changes": list(changes), "written": not dry_run}, told, as_json=options["json"])
