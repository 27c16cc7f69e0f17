"""Providers that can be named without asking anybody: models.dev's as shipped, those it lacks, and whose a base URL is.

Values alone: reads no row, and no key.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from collections_app.catalog import snapshot
from collections_app.catalog.entry import Provider
from collections_app.catalog.sources import models_dev
from collections_app.catalog.sources.feed_url import VARIABLE, is_loopback

__all__ = ["Provider", "provider_of", "shipped"]


@cache
def shipped() -> tuple[Provider, ...]:
    """Every provider that this release knows, by id, as models.dev has it or extras.toml."""
    extras = _extras()
    ours = [Provider(**_as_tuples(row)) for row in extras["provider"]]
    theirs = [_with_extras(provider, extras) for provider in models_dev.providers(snapshot.models_dev())]
    return tuple(sorted((*theirs, *ours), key=lambda provider: provider.id))


def provider_of(base_url: str) -> str:
    """Return the id of the provider whose API a base URL is, by host and path; "" for nobody's that is known.

    A server of this machine is nobody's: what a port is used for is no word on who listens there.
    """
    host, segments = _place(base_url)
    if not host or is_loopback(base_url):
        return ""
    if exact := _by_host().get(host):
        # The longest way together; of two at one place the one that is no plan, then the shorter one.
        return min(exact, key=lambda each: (-_together(each[0], segments), each[1].plan_like, len(each[0]), each[1].id))[1].id
    return next((provider for ending, provider in _extras()["hosts"].items() if _ends(host, ending)), "")


@cache
def _extras() -> dict[str, Any]:
    return tomllib.loads((snapshot.SHIPPED / "extras.toml").read_text())


def _with_extras(provider: Provider, extras: dict[str, Any]) -> Provider:
    also = tuple(name for name in extras["also_env"].get(provider.id, ()) if name not in provider.key_env)
    paths = tuple(extras["listing_paths"].get(provider.id, provider.listing_paths))
    return replace(provider, key_env=provider.key_env + also, listing_paths=paths)


def _as_tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


@cache
def _by_host() -> dict[str, list[tuple[tuple[str, ...], Provider]]]:
    """Where each provider is: its path, by host. One whose host is for its operator to fill is found by extras.toml."""
    places: dict[str, list[tuple[tuple[str, ...], Provider]]] = {}
    for provider in shipped():
        host, segments = _place(provider.base_url)
        if host and not VARIABLE.match(provider.base_url.partition("://")[2]):
            places.setdefault(host, []).append((segments, provider))
    return places


def _place(url: str) -> tuple[str, tuple[str, ...]]:
    """A URL's host, with its port when that is not the scheme's own, and the segments of its path."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "", ()
    host = (parts.hostname or "").removesuffix(".")
    suffix = "" if port in (None, 443, 80) else f":{port}"
    return f"{host}{suffix}" if host else "", tuple(_segments(parts.path))


def _segments(path: str) -> Iterator[str]:
    return (segment for segment in path.split("/") if segment)


def _together(known: tuple[str, ...], asked: tuple[str, ...]) -> int:
    """How many segments two paths begin with in common; one that is a ${VARIABLE} is any."""
    for index, (mine, theirs) in enumerate(zip(known, asked, strict=False)):
        if mine != theirs and not VARIABLE.fullmatch(mine):
            return index
    return min(len(known), len(asked))


def _ends(host: str, ending: str) -> bool:
    return host.endswith(ending) if ending.startswith(".") else host == ending
