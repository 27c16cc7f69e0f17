"""Whom the caller named: aliases turned into models, or a refusal that names the nearest ones."""

from collections.abc import Sequence

from collections_app.models import LanguageModel
from collections_app.selectors import nearest_aliases
from gateway.errors import BadRequest


def nominated_models(aliases: Sequence[str]) -> list[LanguageModel]:
    """Return the models that `with` names, in the caller's order, each once. Raises BadRequest for an unknown alias."""
    return _models_named(aliases, "with")


def named_merger(alias: str) -> LanguageModel | None:
    """Return the model that `bench.merger` names, if it names one. Raises BadRequest for an unknown alias."""
    return _models_named([alias], "bench.merger")[0] if alias else None


def _models_named(aliases: Sequence[str], field: str) -> list[LanguageModel]:
    if not aliases:
        return []
    named = LanguageModel.objects.select_related("endpoint").in_bulk(set(aliases), field_name="alias")
    for alias in aliases:
        if alias not in named:
            near = ", ".join(nearest_aliases(alias)) or "none is near"
            raise BadRequest(f"{field} names {alias[:80]!r}, which is no model on this bench. Nearest: {near}.", param=field)
    return [named[alias] for alias in dict.fromkeys(aliases)]
