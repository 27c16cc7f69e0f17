"""What is known about models, here and elsewhere: sources, what each lists, and what follows for models of this bench."""

from collections_app.models.catalog.entry import CatalogEntry
from collections_app.models.catalog.fact import FIELDS, LEARNED, SOURCES, Fact
from collections_app.models.catalog.known import Known, Value
from collections_app.models.catalog.source import CatalogSource

__all__ = ["FIELDS", "LEARNED", "SOURCES", "CatalogEntry", "CatalogSource", "Fact", "Known", "Value"]
