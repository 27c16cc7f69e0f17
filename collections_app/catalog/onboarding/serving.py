"""What an endpoint has to offer: the models it lists itself, with what the catalogs know of them besides."""

from collections.abc import Sequence
from dataclasses import dataclass

from collections_app.catalog.onboarding.candidates import CATALOGS, Candidate, candidates
from collections_app.catalog.refresh import refresh
from collections_app.catalog.refreshing.own_listing import lists
from collections_app.catalog.refreshing.served import listed_id, own_source, provider_id
from collections_app.models import CatalogSource, Endpoint, LanguageModel


@dataclass(frozen=True, slots=True)
class Choice:
    """A chat model at an endpoint, and the models of this bench that are that one already."""

    candidate: Candidate
    here: tuple[LanguageModel, ...] = ()


@dataclass(frozen=True, slots=True)
class Serving:
    """What is served, free first; `source` is how the endpoint's own listing was last read, None when it never was.

    `own` tells whether the choices are the endpoint's own list, or what catalogs say of its provider.
    """

    choices: Sequence[Choice]
    source: CatalogSource | None
    own: bool


def list_models(endpoint: Endpoint) -> str:
    """Ask `endpoint` what it serves and take that in; returns why it could not be, in words for people, else nothing."""
    if not lists(endpoint):
        return "a command lists no models: name their ids"
    (outcome,) = refresh([own_source(endpoint)]).outcomes
    return outcome.error


def served_at(endpoint: Endpoint) -> Serving:
    """The chat models that can be added at `endpoint`: four queries."""
    source = own_source(endpoint)
    provider = provider_id(endpoint)
    own = candidates((source,), provider=endpoint.name)
    known = {one.served_id: one for one in candidates(CATALOGS, provider=provider)} if provider else {}
    # What it lists itself is what it serves: a catalog may know more of that, and not what else there is.
    found = [one.with_facts_of(known[one.served_id]) if one.served_id in known else one for one in own] or list(known.values())
    here: dict[str, list[LanguageModel]] = {}
    for model in endpoint.language_models.all():
        here.setdefault(listed_id(endpoint, model.served_id), []).append(model)
    found.sort(key=lambda one: one.served_id)
    found.sort(key=lambda one: one.rank)
    return Serving(
        [Choice(one, tuple(here.get(one.served_id, ()))) for one in found],
        CatalogSource.objects.filter(name=source).first(),
        own=bool(own),
    )
