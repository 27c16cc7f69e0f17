"""A page's table as CSV, sent a part at a time."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

from evidence.tables import lines

LINES_AT_ONCE = 200


def download(name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(_sent(lines(header, rows)), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="benchsite-{name}.csv"'
    return response


async def _sent(written: Iterator[str]) -> AsyncIterator[str]:
    """A part at a time, each read in the thread that has the database: the server would first collect a plain iterator."""
    while part := await sync_to_async(lambda: "".join(islice(written, LINES_AT_ONCE)))():
        yield part
