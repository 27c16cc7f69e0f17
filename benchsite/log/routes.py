"""The route of a path, as far as it may be written down: its pattern, never the names and numbers in it.

Of a path that matches none, the words that stand in some pattern are kept and the others become `?`: `/v1/?/completions`.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.urls import Resolver404, URLResolver, get_resolver, resolve

from gateway.edge import PREFIXES, URLCONF

UNKNOWN = "?"
MOST_WORDS = 6


def route_of(path: str) -> str:
    """Return the pattern that `path` matches, such as `/v1/models/<path:model>`."""
    if path.startswith(settings.STATIC_URL):
        return settings.STATIC_URL
    urlconf = URLCONF if path.lstrip("/").split("/", 1)[0] in PREFIXES else settings.ROOT_URLCONF
    try:
        route = resolve(path, urlconf).route
    except Resolver404:
        return _known_words(path)
    # A pattern in regular expressions is the admin's last: it matches whatever it has no page for.
    return _known_words(path) if "(" in route else f"/{route}"


def _known_words(path: str) -> str:
    """A path's own words are never kept because of what they are, only because a pattern of ours has them."""
    words = path.strip("/").split("/")
    kept = (word if word in _vocabulary() else UNKNOWN for word in words[:MOST_WORDS])
    return "/" + "/".join(kept) if path.strip("/") else "/"


@cache
def _vocabulary() -> frozenset[str]:
    patterns = (pattern for urlconf in (URLCONF, settings.ROOT_URLCONF) for pattern in patterns_of(get_resolver(urlconf)))
    words = {word for pattern in patterns for word in pattern.split("/")}
    return frozenset(word for word in words if word and not set(word) & set("<(?^$\\"))


def patterns_of(resolver: URLResolver, above: str = "") -> Iterator[str]:
    """Yield every pattern below `resolver` as a whole, as `resolve` would name it."""
    for entry in resolver.url_patterns:
        pattern: Any = entry.pattern
        if isinstance(entry, URLResolver):
            yield from patterns_of(entry, above + str(pattern))
        else:
            yield above + str(pattern)
