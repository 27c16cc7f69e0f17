"""Public catalogs: where each is, how large it may be, and who reads it.

Asks and reads; writes nothing down and knows no row but the source's own.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from collections_app.catalog.entry import Entry, Listing
from collections_app.catalog.refreshing.asking import Asking, Reading, all_pages, release
from collections_app.catalog.sources import freellmapi, models_dev, openrouter
from collections_app.models import CatalogEntry, CatalogSource
from collections_app.models.health import is_pattern


@dataclass(frozen=True, slots=True)
class Place:
    """A public catalog. `published` is its URL; bytes and seconds are for all of its pages together."""

    name: str
    published: str
    read: Callable[[bytes], Listing]
    largest: int
    seconds: float = 60.0
    # The name of the query that its own word for what it last sent goes into, when it takes one.
    since: str = ""
    # Nobody's own server, whose models come and go as its owner likes.
    local: bool = False

    @property
    def url(self) -> str:
        return settings.BENCH_CATALOG_URLS.get(self.name, self.published)

    def ask(self, held: CatalogSource) -> Reading:
        """Ask for what has changed since `held`. Raises SourceError."""
        # Read by another release, or elsewhere, the same bytes may have said something else.
        known = held if held.url == self.url and held.digest.startswith(release()) else CatalogSource()
        query = f"{self.since}={known.version}" if self.since and known.version else ""
        asking = Asking(largest=self.largest, seconds=self.seconds)
        first = asking.get(self.url, query, etag=known.etag, last_modified=known.last_modified)
        if first.body is None or asking.digest == known.digest:
            return Reading(None, first.etag, first.last_modified, known.digest)
        listing = all_pages(self.read(first.body), lambda query: self.read(asking.get(self.url, query).body or b""))
        if asking.requests > 1:
            # The first page alone is no word on whether the others have changed.
            return Reading(listing)
        return Reading(listing, first.etag, first.last_modified, asking.digest)


def _freellmapi(body: bytes) -> Listing:
    """Its routes, and the limits of whole accounts as rows whose id is a pattern."""
    listing = freellmapi.read(body)
    limits = tuple(
        Entry(
            limit.pattern,
            provider=limit.provider,
            name=limit.note[:200],
            kind=CatalogEntry.Kind.OTHER,
            requests_per_minute=limit.requests_per_minute,
            requests_per_day=limit.requests_per_day,
        )
        for limit in freellmapi.account_limits(body)
        if is_pattern(limit.pattern)
    )
    return Listing((*listing.entries, *limits), listing.left_out, listing.version)


PLACES = (
    Place("models_dev", "https://models.dev/api.json", models_dev.read, largest=16_000_000),
    Place("openrouter", "https://openrouter.ai/api/v1/models", openrouter.read, largest=8_000_000),
    Place("freellmapi", "https://api.freellmapi.co/v1/latest", _freellmapi, largest=8_000_000, since="since"),
)
