"""models.dev, https://models.dev/api.json: nearly every provider and its models, prices in USD per million tokens.

Reads what it lists; which of two sources is believed, and what follows for a model of this bench, is decided elsewhere.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from collections_app.catalog.entry import Entry, Listing, Provider, SourceError
from collections_app.catalog.reading import MOST_ITEMS, Item, LeftOut, id_problem, listed, mapping, parse_json
from collections_app.catalog.sources.feed_url import VARIABLE, feed_url_problem, is_loopback
from collections_app.catalog.sources.kinds import free_by_price, kind_of, plan_like
from collections_app.plain_text import tidy

NPM_URLS = Path(__file__).with_name("npm_urls.toml")
ANTHROPIC = "@ai-sdk/anthropic"
PROVIDER_LENGTH = 80
FAMILY_LENGTH = 60
MOST_VARIABLES = 12

# A variable's name; one provider's starts with a digit.
_VARIABLE_NAME = re.compile(r"[A-Za-z0-9_]{1,60}")
# What is no key among a provider's variables: where it is and whose.
_NO_KEY = re.compile(
    r"_(?:ENDPOINT|HOST|URL|REGION|LOCATION|PROJECT|ACCOUNT|RESOURCE|(?:PROJECT|ACCOUNT|GATEWAY|PRODUCT)_ID|\w+_NAME)$"
)


def read(body: bytes) -> Listing:
    """Return every model of every provider, an id once for each. Raises SourceError when it is not models.dev's document."""
    left_out = LeftOut()
    entries: dict[tuple[str, str], Entry] = {}
    for provider, fields in _providers_in(body, left_out):
        base_url = _base_url(fields)
        if base_url and (why := feed_url_problem(base_url)):
            left_out.note(provider, why)
        for key, model in mapping(fields.get("models")).items():
            if len(entries) >= MOST_ITEMS:
                left_out.note(provider, f"there are more than {MOST_ITEMS} models")
                break
            if entry := _entry(provider, key, model, left_out, local=is_loopback(base_url)):
                entries.setdefault((provider, entry.served_id), entry)
    if not entries:
        raise SourceError("it lists no model")
    return Listing(tuple(entries.values()), left_out.lines())


def providers(body: bytes) -> tuple[Provider, ...]:
    """Return the providers that speak a protocol of ours at a URL that may be named. Raises SourceError as read does."""
    return tuple(found for key, fields in _providers_in(body, LeftOut()) if (found := _provider(key, fields)))


def _providers_in(body: bytes, left_out: LeftOut) -> Iterator[tuple[str, dict[str, Any]]]:
    document = parse_json(body)
    if not isinstance(document, dict):
        raise SourceError("it is no object of providers")
    for key, fields in document.items():
        if why := id_problem(key) or ("its id is too long" if len(key) > PROVIDER_LENGTH else ""):
            left_out.note(tidy(key) or "a provider", why)
        elif not isinstance(fields, dict) or not isinstance(fields.get("models"), dict):
            left_out.note(key, "it is no provider with models")
        else:
            yield key, fields


def _entry(provider: str, key: str, model: Any, left_out: LeftOut, *, local: bool) -> Entry | None:
    item = Item(mapping(model), left_out, f"{provider}: {tidy(key, 100)}")
    served_id = item.fields.get("id", key)
    if why := "it is no object" if not isinstance(model, dict) else id_problem(served_id):
        left_out.note(item.name, why)
        return None
    modalities, limit, cost = item.inner("modalities"), item.inner("limit"), item.inner("cost")
    inputs, outputs = modalities.words("input"), modalities.words("output")
    price_in, price_out = cost.dollars("input"), cost.dollars("output")
    context, prompt, output = limit.tokens("context"), limit.tokens("input"), limit.tokens("output")
    return Entry(
        served_id,
        provider=provider,
        name=item.text("name"),
        kind=kind_of(served_id, outputs, inputs),
        free=free_by_price(provider, price_in, price_out, local=local),
        # A limit of its own for the prompt is the tighter one, and the one that prompts are held to.
        context_window=min(filter(None, (context, prompt)), default=None),
        # Of embeddings it is their dimensions, of speech its characters: nothing that a reply could have.
        output_limit=None if output and context and output > context else output,
        vision=None if inputs is None else "image" in inputs,
        tools=item.flag("tool_call"),
        price_in=price_in,
        price_out=price_out,
        released=item.day("release_date"),
        deprecated=item.fields.get("status") == "deprecated",
        family=item.text("family", most=FAMILY_LENGTH),
    )


def _provider(key: str, fields: dict[str, Any]) -> Provider | None:
    base_url = _base_url(fields)
    if not base_url or feed_url_problem(base_url):
        return None
    in_url = tuple(VARIABLE.findall(base_url))
    named = [name for name in listed(fields.get("env"))[:MOST_VARIABLES] if isinstance(name, str)]
    item = Item(fields, LeftOut())
    doc = item.text("doc", most=500)
    return Provider(
        id=key,
        name=item.text("name", most=PROVIDER_LENGTH) or key,
        base_url=base_url,
        protocol="anthropic_messages" if fields.get("npm") == ANTHROPIC else "openai_chat",
        key_env=tuple(name for name in named if name not in in_url and _may_hold_a_key(name)),
        url_env=in_url,
        doc=doc if doc.startswith("https://") else "",
        plan_like=plan_like(key),
        local=is_loopback(base_url),
    )


def _may_hold_a_key(name: str) -> bool:
    return _VARIABLE_NAME.fullmatch(name) is not None and not _NO_KEY.search(name)


def _base_url(fields: dict[str, Any]) -> str:
    """Where the provider's API is by its own row, or by the package that speaks to it; "" when that is in neither."""
    given, package = fields.get("api"), fields.get("npm")
    if isinstance(given, str) and given:
        return given
    return _urls_of_packages().get(package, "") if isinstance(package, str) else ""


@cache
def _urls_of_packages() -> dict[str, str]:
    return tomllib.loads(NPM_URLS.read_text())
