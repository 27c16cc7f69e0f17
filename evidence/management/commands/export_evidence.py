"""`python manage.py export_evidence`: what is known of models, or every call with its verdict, as CSV or JSON lines."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collections_app.management.base import BenchCommand
from evidence.selectors.export import CALL_HEADER, calls_with_verdicts, records_by_shape
from evidence.tables import RECORD_HEADER, lines, record_row

MOST_DAYS = 36_500
EXAMPLE = """
python manage.py export_evidence --format csv > models.csv
python manage.py export_evidence --format jsonl --table calls --days 30 --output calls.jsonl
"""


class Command(BenchCommand):
    help = (
        "Write what is known of models, by shape of work: how often each was asked, answered and judged useful, with the 95 % "
        "interval; merges apart. Or, with --table calls, every call of the log with the verdict that counts, without prompts "
        "and answers."
    )
    example = EXAMPLE

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=("csv", "jsonl"), required=True, help="which of the two; has to be said")
        parser.add_argument("--table", choices=("models", "calls"), default="models", help="by default models")
        parser.add_argument("--days", type=int, default=0, help="of the latest days alone; without, of all")
        parser.add_argument("--output", type=Path, help="a file to write; without, the terminal")

    def handle(self, *args: Any, format: str, table: str, days: int, output: Path | None, **options: Any) -> None:
        if not 0 <= days <= MOST_DAYS:
            raise CommandError(f"--days {days}: from 1 to {MOST_DAYS:,}, or 0 for all.")
        header, rows = _models(days) if table == "models" else (CALL_HEADER, calls_with_verdicts(days))
        written = lines(header, rows) if format == "csv" else _json_lines(header, rows)
        try:
            if output is None:
                _write(self.stdout, written)
                return
            with output.open("w", encoding="utf-8", newline="") as file:
                count = _write(file, written)
        except BrokenPipeError:
            # Whoever read it has had enough.
            raise
        except OSError as error:
            raise CommandError(f"{output} cannot be written: {error.strerror}.") from error
        self.stderr.write(f"{count - (format == 'csv'):,} rows written to {output}.")


def _models(days: int) -> tuple[Sequence[str], Iterator[Sequence[Any]]]:
    rows = ((*record_row(record, record.shape), merging) for record, merging in records_by_shape(days))
    return (*RECORD_HEADER, "merging"), rows


def _json_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False, default=_moment) + "\n"


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError


def _write(file: Any, written: Iterable[str]) -> int:
    count = 0
    for line in written:
        file.write(line)
        count += 1
    return count
