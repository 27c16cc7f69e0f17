"""Whom onboarding can offer: providers, the likeliest first, and how each is reached from here already.

Of a variable that holds a key its name is read, and whether it is set: no value leaves this module.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from collections_app.catalog.onboarding.candidates import candidates
from collections_app.catalog.providers import Provider, shipped
from collections_app.catalog.refreshing.served import provider_id
from collections_app.models import Endpoint
from collections_app.models.endpoint import check_env_name, env_name_rule

# Retired by its owner, and still in older lists.
NEVER_OFFERED = frozenset({"github-models"})


@dataclass(frozen=True, slots=True)
class Reach:
    """How a provider is reached: its endpoints here, and the variables of the environment that are set for its key."""

    endpoints: tuple[Endpoint, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        return bool(self.endpoints or self.keys)


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider with what the catalogs list of it: chat models, and those that cost nothing."""

    provider: Provider
    reach: Reach
    models: int = 0
    free: int = 0

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Less is offered earlier: what is reached, then what has free models, then the rest; plans last."""
        there = 0 if self.reach.keys and not self.reach.endpoints else 1 if self.reach.is_there else 2
        return int(self.provider.plan_like), there, 0 if self.free else 1, self.provider.name.lower()


def providers() -> dict[str, Provider]:
    """Every provider that can be onboarded, by its id."""
    return {provider.id: provider for provider in shipped() if provider.id not in NEVER_OFFERED}


def reaches(environ: Mapping[str, str] = os.environ) -> dict[str, Reach]:
    """How each provider is reached, of those that are; one query."""
    endpoints: dict[str, list[Endpoint]] = {}
    for endpoint in Endpoint.objects.all():
        endpoints.setdefault(provider_id(endpoint), []).append(endpoint)
    keys = {provider.id: keys_found(provider, environ) for provider in providers().values()}
    return {
        name: Reach(tuple(endpoints.get(name, ())), keys.get(name, ()))
        for name in {*endpoints, *keys} - {""}
        if endpoints.get(name) or keys.get(name)
    }


def keys_found(provider: Provider, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The variables that are set for this provider's key, by its preference, as far as an endpoint may name them."""
    return tuple(name for name in provider.key_env if environ.get(name, "").strip() and _may_be_named(name))


def fields_found(provider: Provider, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What the environment has for the variables in the provider's URL: an account's id, a host; none of them a key."""
    return {name: environ[name].strip() for name in provider.url_env if environ.get(name, "").strip()}


def offers(environ: Mapping[str, str] = os.environ) -> list[Offer]:
    """Every provider that can be onboarded, the likeliest first: two queries."""
    reach, counts = reaches(environ), _counts()
    found = [
        Offer(provider, reach.get(provider.id) or Reach(), *counts.get(provider.id, (0, 0)))
        for provider in providers().values()
        if not provider.local
    ]
    return sorted(found, key=lambda offer: offer.order)


def key_found(offered: Iterable[Offer]) -> list[Offer]:
    """Those whose key is at hand. A plan's is not meant: what it is called is called so for other purposes too."""
    return [offer for offer in offered if offer.reach.keys and not offer.provider.plan_like]


def _counts() -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for one in candidates():
        models, free = counts.get(one.provider, (0, 0))
        counts[one.provider] = (models + 1, free + one.is_free)
    return counts


def _may_be_named(name: str) -> bool:
    try:
        env_name_rule(name)
        check_env_name(name)
    except ValidationError:
        return False
    return True
