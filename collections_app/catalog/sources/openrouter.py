"""OpenRouter, https://openrouter.ai/api/v1/models: prices as text in USD per token, free variants as ids of their own."""

from collections_app.catalog.entry import Listing
from collections_app.catalog.sources import endpoint_listing


def read(body: bytes) -> Listing:
    """Return a page of OpenRouter's models. Raises SourceError when it is not OpenRouter's list."""
    return endpoint_listing.read(body, provider="openrouter")
