"""FreeLLMAPI's catalogue: routes that are free, with the limits of each."""

from collections_app.catalog.entry import AccountLimit, Listing
from collections_app.catalog.reading import parse_json


def read(body: bytes) -> Listing:
    """Return the routes it knows to answer. Raises SourceError when it is not FreeLLMAPI's document."""
    parse_json(body)
    return Listing(())


def account_limits(body: bytes) -> tuple[AccountLimit, ...]:
    """Return the limits that providers count for an account. Raises SourceError as read does."""
    parse_json(body)
    return ()
