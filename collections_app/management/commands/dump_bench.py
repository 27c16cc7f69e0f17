"""python manage.py dump_bench bench.toml: endpoints, models, collections, shapes and limits into a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collections_app.management.base import BenchCommand
from collections_app.services.bench_dump import dump_bench
from collections_app.services.bench_file import format_of, write_bench

HELP = """\
Write endpoints, models, collections, shapes and limits as a file that load_bench reads.

Never a secret: of a provider's key only the name of its environment variable is written.
"""


class Command(BenchCommand):
    help = HELP
    example = "python manage.py dump_bench bench.toml"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, nargs="?", help="where to write; without it, standard output")
        parser.add_argument("--format", choices=("toml", "json"), help="by default the file's extension, else toml")

    def handle(self, *args: Any, file: Path | None, format: str | None, **options: Any) -> None:
        as_format = format or (file and format_of(file)) or "toml"
        text = write_bench(dump_bench(), "json" if as_format == "json" else "toml")
        if file is None:
            self.stdout.write(text, ending="")
            return
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"cannot write {str(file)!a}: {error.strerror}") from error
