"""One reading of one source: all requests that it takes, within the bytes and the seconds of the whole.

Knows no source; what it says is a Reading.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic
from typing import Any

from django.conf import settings

from collections_app.catalog.entry import Listing, SourceError
from collections_app.catalog.fetch import Fetched, Request, fetch

MOST_PAGES = 20
MOST_ENTRIES = 50_000


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source said; `listing` is None when that is what it said before. The rest makes the next request conditional."""

    listing: Listing | None
    etag: str = ""
    last_modified: str = ""
    digest: str = ""


class Asking:
    """Made for one reading. Keeps what came, to tell whether it came before."""

    def __init__(self, *, largest: int, seconds: float) -> None:
        self._left = largest
        self._ends = monotonic() + seconds
        self._digest = sha256()
        self.requests = 0

    def get(self, url: str, query: str = "", **how: Any) -> Fetched:
        """Send one more request; `how` are fields of Request. Raises SourceError."""
        seconds = max(self._ends - monotonic(), 0.1)
        fetched = fetch(Request(url, query, largest=self._left, seconds=seconds, **how))
        body = fetched.body or b""
        self._left -= len(body)
        self._digest.update(b"%d\n%b" % (len(body), body))
        self.requests += 1
        return fetched

    @property
    def digest(self) -> str:
        """Which bytes came, as this release reads them: another may read the same ones otherwise."""
        return (release() + self._digest.hexdigest())[:64]


def release() -> str:
    """What every digest of this release begins with."""
    return f"{settings.BENCH_VERSION[:20]}:"


def all_pages(first: Listing, further: Callable[[str], Listing]) -> Listing:
    """The listing whose first page is `first`; `further` gives the page of a query. Raises SourceError when there is no end."""
    entries, left_out, page = list(first.entries), list(first.left_out), first
    for _ in range(MOST_PAGES):
        if not page.next_page:
            return Listing(tuple(entries), tuple(left_out), first.version)
        page = further(page.next_page)
        entries += page.entries
        left_out += page.left_out
        if len(entries) > MOST_ENTRIES:
            break
    raise SourceError(f"its pages have no end: {len(entries):,} models, and there are more")
