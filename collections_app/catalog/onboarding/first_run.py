"""The catalogs before the first time that one is read: what shipped, in memory for whoever looks, as rows for whoever adds.

A refresh replaces it; where any catalog has been read this is not looked at.
"""

from collections.abc import Mapping
from functools import cache

from django.db import transaction
from django.utils import timezone

from collections_app.catalog import snapshot
from collections_app.catalog.entry import Listing
from collections_app.catalog.refreshing.places import PLACES
from collections_app.catalog.refreshing.rows import write_entries
from collections_app.models import CatalogEntry, CatalogSource

SHIPPED = {"models_dev": snapshot.models_dev, "freellmapi": snapshot.freellmapi}


def is_first_run() -> bool:
    """Whether no catalog has been read yet; one query."""
    return not CatalogEntry.objects.filter(source__in=[place.name for place in PLACES]).exists()


@cache
def shipped_listings() -> Mapping[str, Listing]:
    """What shipped, by the catalog's name."""
    return {place.name: place.read(SHIPPED[place.name]()) for place in PLACES if place.name in SHIPPED}


def take_in_shipped() -> None:
    """Make what shipped the catalogs' rows, unless a catalog has been read."""
    with transaction.atomic():
        if not is_first_run():
            return
        for name, listing in shipped_listings().items():
            write_entries(name, listing.entries, now=timezone.now())
            # Never read, as far as a refresh is concerned: it asks for all of it, and holds it against nothing.
            CatalogSource.objects.get_or_create(name=name, defaults={"entries": len(listing.entries), "version": "shipped"})
