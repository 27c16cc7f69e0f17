"""A page's table as CSV, sent row by row. What would be a formula in a spreadsheet is made text."""

import csv
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

# A spreadsheet runs a cell that begins so, whoever wrote it: https://owasp.org/www-community/attacks/CSV_Injection
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
LINES_AT_ONCE = 200


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
    """A value as a cell: text that would be a formula behind a quotation mark, moments in UTC, nothing for None."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(value, date):
        return value.isoformat()
    return round(value, 4) if isinstance(value, float) else value


def download(name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(_sent(lines(header, rows)), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="benchsite-{name}.csv"'
    return response


async def _sent(written: Iterator[str]) -> AsyncIterator[str]:
    """A part at a time, each read in the thread that has the database: the server would first collect a plain iterator."""
    while part := await sync_to_async(lambda: "".join(islice(written, LINES_AT_ONCE)))():
        yield part
