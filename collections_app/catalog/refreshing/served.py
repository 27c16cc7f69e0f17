"""What this bench asks for, by the names that catalogs know it under.

Joins rows of the roster to keys of the catalog; reads neither a listing nor what is known.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from collections_app.catalog.providers import provider_of
from collections_app.models import Endpoint, LanguageModel

# A row of the catalog: source, provider, served id.
Key = tuple[str, str, str]
OPENROUTER = "openrouter"
# Gemini's ids are asked for with it or without.
FOLDER = "models/"


@dataclass(frozen=True, slots=True)
class Served:
    """An id that an endpoint serves, and the models of this bench that it is asked for; `provider` is models.dev's id."""

    endpoint: Endpoint
    provider: str
    served_id: str
    models: tuple[LanguageModel, ...]

    @property
    def keys(self) -> Iterator[Key]:
        """The rows of the catalog that are about it, the endpoint's own first."""
        yield own_source(self.endpoint), self.endpoint.name, listed_id(self.endpoint, self.served_id)
        plain = self.served_id.removeprefix(FOLDER)
        if self.provider:
            yield "models_dev", self.provider, plain
            yield "freellmapi", self.provider, plain
        if self.provider == OPENROUTER:
            yield "openrouter", OPENROUTER, plain

    @property
    def called(self) -> bool:
        """Whether any of its models is still called."""
        return any(model.status != LanguageModel.Status.RETIRED for model in self.models)

    @property
    def names(self) -> str:
        """Its models' names on this bench, for people."""
        return ", ".join(sorted(model.alias for model in self.models))


def own_source(endpoint: Endpoint) -> str:
    """What the endpoint's own listing is called among the sources."""
    return f"endpoint:{endpoint.name}"


def provider_id(endpoint: Endpoint) -> str:
    """The endpoint's provider as models.dev calls it; empty when it is nobody's that is known."""
    return endpoint.provider or provider_of(endpoint.base_url)


def listed_id(endpoint: Endpoint, served_id: str) -> str:
    """The id as the endpoint's listing is read: Ollama takes one without a tag for the latest."""
    plain = served_id.removeprefix(FOLDER)
    untagged = endpoint.protocol == Endpoint.Protocol.OLLAMA and ":" not in plain
    return f"{plain}:latest" if untagged else plain


def serve(models: Iterable[LanguageModel]) -> list[Served]:
    """What `models`, read with their endpoints, are asked for: each endpoint's id once."""
    asked: dict[tuple[Endpoint, str], list[LanguageModel]] = {}
    for model in models:
        asked.setdefault((model.endpoint, model.served_id), []).append(model)
    providers = {endpoint: provider_id(endpoint) for endpoint, _ in asked}
    return [Served(endpoint, providers[endpoint], served_id, tuple(rows)) for (endpoint, served_id), rows in asked.items()]


def serves_here() -> list[Served]:
    """What all models of this bench are asked for, retired ones too; one query."""
    return serve(LanguageModel.objects.select_related("endpoint"))


def by_key(served: Iterable[Served]) -> dict[Key, list[Served]]:
    """The same, by every key of the catalog that is about it."""
    found: dict[Key, list[Served]] = {}
    for each in served:
        for key in each.keys:
            found.setdefault(key, []).append(each)
    return found
