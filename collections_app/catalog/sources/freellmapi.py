"""FreeLLMAPI, https://api.freellmapi.co/v1/latest: routes that cost nothing, with the limits of each; it knows no prices.

Every row that is enabled is a free quota, also where the model has a price elsewhere. What it says in prose is not read,
but for limits that an account shares.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from collections_app.catalog.entry import AccountLimit, Entry, Listing, SourceError
from collections_app.catalog.reading import MOST_ITEMS, Item, LeftOut, id_problem, listed, mapping, parse_json
from collections_app.catalog.sources.kinds import OTHER, QUOTA, kind_of
from collections_app.plain_text import tidy

# Its names for providers, where models.dev has others; one key space is two providers there.
PROVIDERS = {
    "github": ("github-models",),
    "ollama": ("ollama-cloud",),
    "zhipu": ("zhipuai", "zai"),
    "cloudflare": ("cloudflare-workers-ai",),
    "ovh": ("ovhcloud",),
}
VERSION_LENGTH = 60
PROVIDER_LENGTH = 80
MOST_QUIRKS = 200
MOST_SHARED = 50
LONGEST_TEXT = 2000

_SHARED = re.compile(r"account-wide|shared (?:across|by) (?:all|every)|per account, not per model", re.IGNORECASE)
_A_DAY = re.compile(r"([0-9][0-9,]{0,9}) ?(?:requests?|req)? ?(?:/|per |a )day", re.IGNORECASE)
_A_MINUTE = re.compile(r"([0-9][0-9,]{0,9}) ?(?:(?:requests?|req) ?(?:/|per |a )min|rpm\b)", re.IGNORECASE)


def read(body: bytes) -> Listing:
    """Return the routes that it knows to answer. Raises SourceError when it is not FreeLLMAPI's document."""
    document, left_out = _document(body), LeftOut()
    shared = _account_limits(document)
    entries: dict[tuple[str, str], Entry] = {}
    dead = 0
    for row in document["models"][:MOST_ITEMS]:
        item = Item(mapping(row), left_out, _name_of(row))
        if item.fields.get("enabled") is False:
            dead += 1
            continue
        for entry in _entries(item):
            entries.setdefault((entry.provider, entry.served_id), _without_shared(entry, shared))
    if dead:
        left_out.note("not enabled", f"{dead} routes that it knows not to answer")
    if not entries:
        raise SourceError("it lists no model")
    return Listing(tuple(entries.values()), left_out.lines(), version=tidy(document.get("version"), VERSION_LENGTH))


def account_limits(body: bytes) -> tuple[AccountLimit, ...]:
    """Return the limits that a provider counts for an account and not for a model. Raises SourceError as read does.

    The number is that of an account nobody has paid into, the first that is named.
    """
    return _account_limits(_document(body))


def _document(body: bytes) -> dict[str, Any]:
    document = parse_json(body)
    if not isinstance(document, dict) or not isinstance(document.get("models"), list):
        raise SourceError("it has no list of models")
    return document


def _entries(item: Item) -> Iterator[Entry]:
    """A row as entries: one for each provider that its platform is in models.dev."""
    served_id, platform = item.fields.get("modelId"), item.text("platform", most=PROVIDER_LENGTH)
    if why := id_problem(served_id) or ("" if platform else "it has no platform"):
        item.left_out.note(item.name, why)
        return
    other = item.text("modality") in ("image", "audio", "video", "embedding")
    limits = item.inner("limits")
    for provider in PROVIDERS.get(platform, (platform,)):
        yield Entry(
            str(served_id),
            provider=provider,
            name=item.text("displayName"),
            kind=OTHER if other else kind_of(str(served_id), frozenset({"text"})),
            free=QUOTA,
            context_window=item.tokens("contextWindow"),
            vision=item.flag("supportsVision"),
            tools=item.flag("supportsTools"),
            requests_per_minute=limits.tokens("rpm"),
            requests_per_day=limits.tokens("rpd"),
            tokens_per_minute=limits.tokens("tpm"),
            tokens_per_day=limits.tokens("tpd"),
        )


def _account_limits(document: dict[str, Any]) -> tuple[AccountLimit, ...]:
    rows = [Item(mapping(row), LeftOut()) for row in document["models"][:MOST_ITEMS]]
    found: dict[tuple[str, str], AccountLimit] = {}
    for told, platform, pattern in islice(_shared_in(document), MOST_SHARED):
        for provider in PROVIDERS.get(platform, (platform,)):
            found[provider, pattern] = AccountLimit(
                provider,
                pattern,
                requests_per_minute=_number(_A_MINUTE, told) or _same_in_all(rows, platform, pattern),
                requests_per_day=_number(_A_DAY, told),
                note=tidy(told),
            )
    return tuple(limit for limit in found.values() if limit.requests_per_minute or limit.requests_per_day)


def _shared_in(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What is said of limits that an account shares: the words, and the platform and the pattern of ids they are said of."""
    for quirk in listed(document.get("quirks"))[:MOST_QUIRKS]:
        item = Item(mapping(quirk), LeftOut())
        told = f"{item.text('title')}. {item.text('body', most=LONGEST_TEXT)}"
        if not _SHARED.search(told):
            continue
        for target in item.items("targets"):
            platform, pattern = target.text("platform", most=PROVIDER_LENGTH), target.fields.get("modelGlob") or "*"
            if platform and not id_problem(pattern):
                yield told, platform, pattern


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return (int(match[1].replace(",", "")) or None) if match else None


def _same_in_all(rows: list[Item], platform: str, pattern: str) -> int | None:
    """The requests a minute that every row of the pattern gives: said of each model, counted for the account."""
    matching = (row for row in rows if row.text("platform") == platform and fnmatchcase(row.text("modelId"), pattern))
    told = {row.inner("limits").tokens("rpm") for row in matching}
    return told.pop() if len(told) == 1 else None


def _without_shared(entry: Entry, shared: tuple[AccountLimit, ...]) -> Entry:
    """The entry without limits that its account has: said of one model, they would be held twice, and to other numbers."""
    for limit in shared:
        if limit.provider == entry.provider and fnmatchcase(entry.served_id, limit.pattern):
            return replace(
                entry,
                requests_per_minute=None if limit.requests_per_minute else entry.requests_per_minute,
                requests_per_day=None if limit.requests_per_day else entry.requests_per_day,
            )
    return entry


def _name_of(row: Any) -> str:
    fields = mapping(row)
    return f"{tidy(fields.get('platform'), 40)}: {tidy(fields.get('modelId'), 100)}"
