"""What every source's reader gives: models as a source lists them, in our units, limits, providers. No row of the database.

Unknown is None, never 0: a missing price is unknown, a window of 0 is unknown, a price of -1 varies.
"""

from dataclasses import KW_ONLY, dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """Windows and limits in tokens, prices in USD per million tokens, dates as YYYY-MM-DD or YYYY-MM.

    `kind` and `free` are CatalogEntry's choices. `provider` is models.dev's id; empty when the source has one provider alone.
    `trained_window` is what the model was trained for, `context_window` what answers.
    """

    served_id: str
    _: KW_ONLY
    provider: str = ""
    name: str = ""
    kind: str = "chat"
    free: str = ""
    context_window: int | None = None
    trained_window: int | None = None
    output_limit: int | None = None
    vision: bool | None = None
    tools: bool | None = None
    price_in: float | None = None
    price_out: float | None = None
    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None
    released: str = ""
    retires: str = ""
    deprecated: bool = False
    successor: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source listed, and a line for each item that was left out, naming it and why. `version` is its own word for it.

    `next_page` is the query that the source's next page has, when it has one.
    """

    entries: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()
    version: str = ""
    next_page: str = ""


@dataclass(frozen=True, slots=True)
class AccountLimit:
    """A limit that a provider counts for an account: every id that `pattern` matches draws on it."""

    provider: str
    pattern: str
    _: KW_ONLY
    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider's API is. `id` is models.dev's; `protocol` one of Endpoint.Protocol.

    `base_url` may hold ${VARIABLES}, which `url_env` names. `key_env` names the variables that may hold its key, by preference.
    `listing_paths` are tried in turn, each joined to the base URL as a link in it is; one on another host is public.
    """

    id: str
    name: str
    base_url: str
    protocol: str = "openai_chat"
    key_env: tuple[str, ...] = ()
    url_env: tuple[str, ...] = ()
    doc: str = ""
    plan_like: bool = False
    local: bool = False
    listing_paths: tuple[str, ...] = ("models",)


class SourceError(Exception):
    """A source as a whole cannot be taken: it is not reached, too large, no JSON, or of no shape that is known."""
