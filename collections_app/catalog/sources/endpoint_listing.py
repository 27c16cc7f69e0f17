"""An endpoint's own list of models, in whatever shape: what it serves, and what it says of each.

OpenAI's list and those of Groq, Mistral, Together, Gemini, Anthropic, Cohere, Cloudflare, xAI, OpenRouter, the Hugging Face
router, LiteLLM, vLLM, llama.cpp, Ollama, LM Studio and others: one reader, since a shape is known by its keys and not by
whose it is said to be.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collections_app.catalog.entry import Entry, Listing
from collections_app.catalog.reading import MOST_ITEMS, Item, LeftOut, id_problem, parse_json
from collections_app.catalog.sources.listing.row import entry_of
from collections_app.catalog.sources.listing.shapes import id_of, next_page, plain, rows_of
from collections_app.models.health.pattern import is_pattern
from collections_app.plain_text import tidy


def read(body: bytes, provider: str = "") -> Listing:
    """Return a page of what an endpoint lists; `provider` is written into each entry. Raises SourceError: no list of models."""
    document = parse_json(body)
    left_out = LeftOut()
    entries: dict[str, Entry] = {}
    parents: dict[str, str] = {}
    rows = rows_of(document)
    if len(rows) > MOST_ITEMS:
        left_out.note("the rest", f"there are more than {MOST_ITEMS} models")
    for row in rows[:MOST_ITEMS]:
        entry = _entry(row, provider, left_out)
        if not entry:
            continue
        entries[entry.served_id] = _least_of(entries[entry.served_id], entry) if entry.served_id in entries else entry
        if isinstance(row, dict) and isinstance(row.get("parent"), str):
            parents[entry.served_id] = row["parent"]
    return Listing(
        tuple(_with_parent(each, entries, parents) for each in entries.values()),
        left_out.lines(),
        next_page=next_page(document),
    )


def _entry(row: Any, provider: str, left_out: LeftOut) -> Entry | None:
    fields: Mapping[str, Any] = {"id": row} if isinstance(row, str) else row if isinstance(row, dict) else {}
    listed = id_of(fields)
    served_id = listed.strip().removeprefix("models/") if isinstance(listed, str) else listed
    if why := id_problem(served_id) or ("its id stands for many" if is_pattern(served_id) else ""):
        left_out.note(tidy(listed, 100) or "a model", why)
        return None
    return entry_of(served_id, Item(plain(fields), left_out, served_id), provider)


def _least_of(first: Entry, second: Entry) -> Entry:
    """One entry for an id listed twice, as LiteLLM lists deployments: any of them may answer, so the smaller window counts."""
    windows = [window for window in (first.context_window, second.context_window) if window]
    limits = [limit for limit in (first.output_limit, second.output_limit) if limit]
    return replace(first, context_window=min(windows, default=None), output_limit=min(limits, default=None))


def _with_parent(entry: Entry, entries: Mapping[str, Entry], parents: Mapping[str, str]) -> Entry:
    """An adapter that vLLM lists beside its base has no window of its own: it has its base's."""
    base = entries.get(parents.get(entry.served_id, ""))
    return entry if entry.context_window or base is None else replace(entry, context_window=base.context_window)
