"""What an endpoint itself lists, and what a server of one's own says that it gives: the window that answers.

Sends the endpoint's key to its own host alone, and no prompt anywhere. Writes nothing down.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar
from urllib.parse import urljoin

from collections_app.catalog.entry import Entry, Listing, SourceError
from collections_app.catalog.fetch import NotReachedError, StatusError
from collections_app.catalog.providers import shipped
from collections_app.catalog.refreshing.asking import Asking, Reading, all_pages
from collections_app.catalog.refreshing.served import listed_id, own_source, provider_id
from collections_app.catalog.sources import endpoint_listing, llama_props, ollama_show
from collections_app.models import CatalogEntry, CatalogSource, Endpoint
from collections_app.models.base_url import is_near, origin_of
from collections_app.sealing import UnsealError
from collections_app.selectors import typed_key

Told = TypeVar("Told")

LARGEST = 4_000_000
SECONDS = 30.0
# An Ollama is asked about each of its models; of more, about those of this bench alone.
MOST_SHOWN = 50
NOT_THERE = (404, 405)
# A shorter one, as local servers have them, may be a word of any model's name.
SHORTEST_KEY_HIDDEN = 16
TOLD = ("kind", "free", "context_window", "trained_window", "output_limit", "vision", "tools", "family")
# Relative to the base URL, by protocol; OpenAI's is a provider's own, where one is known.
PATHS: Mapping[str, str] = {
    Endpoint.Protocol.ANTHROPIC_MESSAGES: "models?limit=1000",
    Endpoint.Protocol.GEMINI: "models?pageSize=1000",
    Endpoint.Protocol.OLLAMA: "api/tags",
}


class NoKeyError(SourceError):
    """The endpoint's key is named, and not set: it is not asked."""


def lists(endpoint: Endpoint) -> bool:
    """Whether there is anything to ask: a command has no listing."""
    return endpoint.protocol != Endpoint.Protocol.LLM_CLI


@dataclass(slots=True)
class OwnListing:
    """One endpoint, asked once. `here` are the ids that this bench asks it for."""

    endpoint: Endpoint
    here: frozenset[str] = frozenset()
    _key: Mapping[str, str] = field(default_factory=dict, repr=False)
    _asking: Asking = field(default_factory=lambda: Asking(largest=LARGEST, seconds=SECONDS), repr=False)

    @property
    def name(self) -> str:
        return own_source(self.endpoint)

    @property
    def url(self) -> str:
        return self.endpoint.base_url

    @property
    def local(self) -> bool:
        return is_near(self.endpoint.base_url)

    def ask(self, held: CatalogSource) -> Reading:
        """Ask what it serves. Raises SourceError; NoKeyError before anything is asked."""
        self._key = key_headers(self.endpoint)
        listing = self._listed()
        if self.endpoint.protocol == Endpoint.Protocol.OLLAMA:
            listing = self._of_ollama(listing)
        elif self.local:
            listing = self._of_own_server(listing)
        entries = tuple(replace(entry, provider=self.endpoint.name) for entry in listing.entries)
        return Reading(replace(listing, entries=entries), digest=self._asking.digest)

    def _listed(self) -> Listing:
        *others, last = self._paths()
        for path in others:
            try:
                return self._listing_at(path)
            except StatusError as error:
                if error.status not in NOT_THERE:
                    raise
        return self._listing_at(last)

    def _paths(self) -> tuple[str, ...]:
        if path := PATHS.get(self.endpoint.protocol):
            return (path,)
        known = provider_id(self.endpoint)
        provider = next((provider for provider in shipped() if known and provider.id == known), None)
        return provider.listing_paths if provider and provider.listing_paths else ("models",)

    def _listing_at(self, path: str) -> Listing:
        # By its id in models.dev, for in which unit a price is depends on whose it is.
        provider = provider_id(self.endpoint)
        url, _, query = self._absolute(path).partition("?")
        joined = f"{query}&" if query else ""
        return all_pages(
            endpoint_listing.read(self._get(url, query), provider),
            lambda further: endpoint_listing.read(self._get(url, joined + further), provider),
        )

    def _of_own_server(self, listing: Listing) -> Listing:
        """The listing with what llama.cpp or LM Studio tells at paths of its own: the window that it gives."""
        if served := self._optional("/props", llama_props.read):
            alone = len(listing.entries) == 1
            return _with(listing, [replace(served, served_id=listing.entries[0].served_id) if alone else served])
        if loaded := self._optional("/api/v0/models", endpoint_listing.read):
            return _with(listing, loaded.entries)
        return listing

    def _of_ollama(self, listing: Listing) -> Listing:
        """The listing with what each model can do, and the window of those that are loaded."""
        here = {listed_id(self.endpoint, served_id) for served_id in self.here}
        few = self.local and len(listing.entries) <= MOST_SHOWN
        shown = []
        for entry in listing.entries:
            if few or entry.served_id in here:
                body = json.dumps({"model": entry.served_id}).encode()
                if told := self._optional("api/show", ollama_show.read, body):
                    shown.append(replace(told, served_id=entry.served_id))
        loaded = self._optional("api/ps", endpoint_listing.read)
        return _with(_with(listing, shown), loaded.entries if loaded else ())

    def _optional(self, path: str, read: Callable[[bytes], Told], body: bytes | None = None) -> Told | None:
        """What is told at a path that not every server has.

        Raises NotReachedError: a server that falls silent has more to tell than nothing.
        """
        try:
            return read(self._get(self._absolute(path), body=body))
        except NotReachedError:
            raise
        except SourceError:
            return None

    def _absolute(self, path: str) -> str:
        """A path is relative to the base URL as a link is, with `/` at its start to the host."""
        return urljoin(self.endpoint.base_url.rstrip("/") + "/", path)

    def _get(self, url: str, query: str = "", *, body: bytes | None = None) -> bytes:
        own_host = origin_of(url) == origin_of(self.endpoint.base_url)
        headers = {"key": self._key, "headers": self._version()} if own_host else {}
        return _without(self._key, self._asking.get(url, query, body=body, **headers).body or b"")

    def _version(self) -> Mapping[str, str]:
        anthropic = self.endpoint.protocol == Endpoint.Protocol.ANTHROPIC_MESSAGES
        return {"anthropic-version": "2023-06-01"} if anthropic else {}


def key_headers(endpoint: Endpoint) -> Mapping[str, str]:
    """The headers that carry the endpoint's key, the environment's or the one typed in, if there is one. Raises SourceError."""
    key = os.environ.get(endpoint.api_key_env, "").strip() if endpoint.api_key_env else ""
    if not key and endpoint.typed_key_id:
        try:
            key = typed_key(str(endpoint.typed_key_id), endpoint.base_url)
        except UnsealError as error:
            raise SourceError(str(error)) from None
    if endpoint.api_key_env and not key:
        raise NoKeyError(f"the environment variable {endpoint.api_key_env} is not set, and this endpoint's key is in it")
    if not key:
        return {}
    match endpoint.protocol:
        case Endpoint.Protocol.ANTHROPIC_MESSAGES:
            return {"x-api-key": key}
        case Endpoint.Protocol.GEMINI:
            return {"x-goog-api-key": key}
    return {"Authorization": f"Bearer {key}"}


def _without(headers: Mapping[str, str], body: bytes) -> bytes:
    """What was answered, without the key: some repeat it, and what they say is kept and shown."""
    for value in headers.values():
        key = value.removeprefix("Bearer ").encode()
        if len(key) >= SHORTEST_KEY_HIDDEN:
            body = body.replace(key, b"[key]")
    return body


def _with(listing: Listing, told: Iterable[Entry]) -> Listing:
    """The listing, each entry with what is told of it elsewhere, where that knows anything."""
    more = {entry.served_id: entry for entry in told}
    return replace(listing, entries=tuple(_joined(entry, more.get(entry.served_id)) for entry in listing.entries))


def _joined(entry: Entry, told: Entry | None) -> Entry:
    """The entry with every value that a server tells of it beside its listing: the lower window that it serves, too."""
    if not told:
        return entry
    unsaid = (None, "", CatalogEntry.Kind.CHAT)
    values = {name: getattr(told, name) for name in TOLD}
    return replace(entry, **{name: value for name, value in values.items() if value not in unsaid})
