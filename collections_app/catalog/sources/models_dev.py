"""models.dev, https://models.dev/api.json: nearly every provider's models, prices in USD per million tokens.

Reads what it lists of models and of providers; what holds for a model of this bench is decided elsewhere.
"""

from collections.abc import Iterator
from typing import Any

from collections_app.catalog.entry import Entry, Listing, SourceError
from collections_app.catalog.kinds import free_by_price, kind_of
from collections_app.catalog.providers import Provider
from collections_app.catalog.reading import MOST_ITEMS, Item, LeftOut, id_problem, mapping, parse_json, tidy

PROVIDER_LENGTH = 80


def read(body: bytes) -> Listing:
    """Return every model of every provider. Raises SourceError when it is not models.dev's document."""
    left_out = LeftOut()
    entries: dict[tuple[str, str], Entry] = {}
    for provider, fields in _providers_in(body, left_out):
        for key, model in mapping(fields.get("models")).items():
            if len(entries) >= MOST_ITEMS:
                left_out.note(provider, f"there are more than {MOST_ITEMS} models")
                break
            if entry := _entry(provider, key, model, left_out):
                entries[provider, entry.served_id] = entry
    if not entries:
        raise SourceError("it lists no model")
    return Listing(tuple(entries.values()), left_out.lines())


def providers(body: bytes) -> tuple[Provider, ...]:
    """Return the providers that can be called over HTTP alone. Raises SourceError as read does."""
    return ()


def _providers_in(body: bytes, left_out: LeftOut) -> Iterator[tuple[str, dict[str, Any]]]:
    document = parse_json(body)
    if not isinstance(document, dict):
        raise SourceError("it is no object of providers")
    for key, fields in document.items():
        if not isinstance(fields, dict) or not isinstance(fields.get("models"), dict):
            left_out.note(key, "it is no provider with models")
        elif why := id_problem(key):
            left_out.note(key, why)
        else:
            yield key[:PROVIDER_LENGTH], fields


def _entry(provider: str, key: str, model: Any, left_out: LeftOut) -> Entry | None:
    name = f"{provider}: {tidy(key, 100)}"
    item = Item(mapping(model), left_out, name)
    served_id = item.fields.get("id", key)
    if why := "it is no object" if not isinstance(model, dict) else id_problem(served_id):
        left_out.note(name, why)
        return None
    modalities, limit, cost = item.inner("modalities"), item.inner("limit"), item.inner("cost")
    inputs = modalities.words("input")
    price_in, price_out = cost.dollars("input"), cost.dollars("output")
    context, prompt, output = limit.tokens("context"), limit.tokens("input"), limit.tokens("output")
    return Entry(
        served_id,
        provider=provider,
        name=item.text("name"),
        kind=kind_of(served_id, modalities.words("output")),
        free=free_by_price(provider, price_in, price_out),
        context_window=min(filter(None, (context, prompt)), default=None),
        output_limit=None if output and context and output > context else output,
        vision=None if inputs is None else "image" in inputs,
        tools=item.flag("tool_call"),
        price_in=price_in,
        price_out=price_out,
        released=item.day("release_date"),
        deprecated=item.fields.get("status") == "deprecated",
        family=item.text("family", most=60),
    )
