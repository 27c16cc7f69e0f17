"""OpenRouter, https://openrouter.ai/api/v1/models: prices as text in USD per token, free variants as ids of their own.

What is chat comes by default; decision models when output_modalities=decisions is asked for. An id with `~` moves on to
newer models by itself; one with a price of -1 chooses among them.
"""

from collections_app.catalog.entry import Listing, SourceError
from collections_app.catalog.sources import endpoint_listing


def read(body: bytes) -> Listing:
    """Return a page of OpenRouter's models, and the query of the next. Raises SourceError when it lists none."""
    listing = endpoint_listing.read(body, provider="openrouter")
    if not listing.entries:
        raise SourceError("it lists no model")
    return listing
