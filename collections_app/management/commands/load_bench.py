"""python manage.py load_bench bench.toml: endpoints, models, collections, shapes and limits from a file."""

from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from collections_app.catalog.merge import merge_all
from collections_app.services.bench_file import BenchFileError, read_bench
from collections_app.services.bench_load import load_bench

HELP = """\
Load endpoints, models, collections, shapes and limits from a TOML or JSON file.

A row that the file names becomes what the file says of it: keys left out take their defaults. Rows that the file does
not name stay as they are: loading never deletes (retire a model with status = "retired"). All or nothing: with any
mistake in the file nothing changes, and every mistake is told. Loading the same file again changes nothing.

Example:
  python manage.py load_bench bench.toml --dry-run
"""


class Command(BaseCommand):
    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a .toml or .json file, as dump_bench writes it")
        parser.add_argument("--dry-run", action="store_true", help="tell what would change, and change nothing")

    def handle(self, *args: Any, file: Path, dry_run: bool, **options: Any) -> None:
        try:
            changes = load_bench(read_bench(file), dry_run=dry_run)
        except BenchFileError as refused:
            raise CommandError(f"nothing was loaded:\n{refused}") from refused
        for line in changes:
            self.stdout.write(line)
        if not changes:
            self.stdout.write("Nothing changed.")
        elif dry_run:
            self.stdout.write("Dry run: nothing was written.")
        else:
            # What catalogs know already of models that are new here.
            merge_all()
