"""An endpoint's own list of models, in whatever shape: what it serves, and the windows it says that it serves it with."""

from typing import Any

from collections_app.catalog.entry import Entry, Listing, SourceError
from collections_app.catalog.kinds import kind_of
from collections_app.catalog.reading import Item, LeftOut, id_problem, parse_json, tidy

LISTS = ("data", "models", "result", "results", "items")
IDS = ("id", "name", "model", "key", "model_id", "slug")
WINDOWS = (
    "context_length",
    "context_window",
    "max_model_len",
    "max_context_length",
    "max_input_tokens",
    "inputTokenLimit",
    "ctx_len",
)


def read(body: bytes, provider: str = "") -> Listing:
    """Return what an endpoint lists. Raises SourceError when it is no list of models."""
    left_out = LeftOut()
    entries: dict[str, Entry] = {}
    for row in _rows(parse_json(body)):
        if entry := _entry(row, provider, left_out):
            entries.setdefault(entry.served_id, entry)
    return Listing(tuple(entries.values()), left_out.lines())


def _rows(document: Any) -> list[Any]:
    if isinstance(document, list):
        return document
    if isinstance(document, dict):
        for key in LISTS:
            if isinstance(document.get(key), list):
                rows: list[Any] = document[key]
                return rows
    raise SourceError("it has no list of models")


def _entry(row: Any, provider: str, left_out: LeftOut) -> Entry | None:
    fields = {"id": row} if isinstance(row, str) else row if isinstance(row, dict) else {}
    served_id = next((fields[key] for key in IDS if fields.get(key)), None)
    if why := id_problem(served_id):
        left_out.note(tidy(served_id, 100) or "an item", why)
        return None
    assert isinstance(served_id, str)
    served_id = served_id.removeprefix("models/")
    item = Item(fields, left_out, served_id)
    return Entry(served_id, provider=provider, kind=kind_of(served_id), context_window=item.tokens(*WINDOWS))
