"""Providers of models: where their API is, what it speaks and what their key is called, and whose a base URL is.

Values and the data shipped for the first run; asks nobody and reads no row.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """`id` is models.dev's; `protocol` one of Endpoint.Protocol. `base_url` may hold ${VARIABLES}, then named in `url_env`.

    `key_env` names the variables that may hold its key, by preference. `listing_paths` are tried in turn, joined to the
    base URL as a relative link is; an absolute one is public and is asked without a key.
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


def shipped() -> tuple[Provider, ...]:
    """The providers that this release knows, models.dev's and those that it lacks: for a first run offline."""
    return ()


def local_servers() -> tuple[Provider, ...]:
    """Model servers of one's own machine at the ports they use, for whoever was told to look there."""
    return ()


def provider_of(base_url: str) -> str:
    """Return the id of the provider that a base URL belongs to, by host and path; "" when it is nobody's that is known."""
    return ""
