"""What is known as tables: a model's record as a row, and rows as CSV in which nothing is a formula.

Sends and writes nothing.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

from evidence.selectors.standing import Record

# A spreadsheet runs a cell that begins so, whoever wrote it: https://owasp.org/www-community/attacks/CSV_Injection
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


class _Line:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """CSV, one line at a time."""
    writer = csv.writer(_Line())
    yield writer.writerow(header)
    for row in rows:
        yield writer.writerow([cell(value) for value in row])


def cell(value: Any) -> Any:
    """A value as a cell: text that would be a formula behind a quotation mark, moments in UTC, lists as JSON."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return round(value, 4) if isinstance(value, float) else value


RECORD_HEADER = (
    "alias",
    "endpoint",
    "model_id",
    "shape",
    "asked",
    "answered",
    "empty",
    "failed",
    "judged",
    "useful",
    "share_low_95",
    "share_high_95",
    "claims_real",
    "claims_false",
    "unique_finds",
    "verdicts_owed",
    "median_seconds",
    "p95_seconds",
    "timed",
    "last_asked",
)


def record_row(record: Record, shape: str) -> Sequence[Any]:
    share = record.share
    return (
        *(record.alias, record.endpoint_name, record.served_id, record.shape or shape or "every shape"),
        *(record.asked, record.answered, record.empty, record.failed, record.judged, record.useful),
        *((share.low, share.high) if share.of else (None, None)),
        *(record.claims_real, record.claims_false, record.unique_finds, record.owed),
        *(record.median, record.p95, record.timed, record.last_asked),
    )
