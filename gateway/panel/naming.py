"""What the names in a request stand for: a collection in a reply mode, models by alias; and what to say when for nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from collections_app.models import Collection, LanguageModel
from collections_app.roster import Roster
from collections_app.selectors import know, members_of, nearest, nearest_aliases
from gateway.chat import ReplyMode
from gateway.errors import BadRequest, NotAllowed, NotFound, Refusal
from gateway.redact import quoted
from keys.services import Caller

_MODES: Final[dict[str, ReplyMode | None]] = {"all": "all", "merged": "merged", "latest": None}


@dataclass(frozen=True, slots=True)
class AskedName:
    """A model name taken apart: bench/core:merged is `core`, merged."""

    name: str
    reply: ReplyMode | None


def read_model_name(model: str) -> AskedName | None:
    """Take a model name apart; None when it can name no collection. `:latest`, which Ollama clients add, means no mode."""
    name, colon, suffix = model.partition(":")
    if colon and suffix not in _MODES:
        return None
    return AskedName(name.removeprefix("bench/"), _MODES[suffix] if colon else None)


def collection_for(caller: Caller, model: str, roster: Roster) -> tuple[AskedName, Collection]:
    """The collection that a model name asks for. Raises NotFound, BadRequest or NotAllowed with those the caller may ask."""
    asked = read_model_name(model)
    collection = roster.collections.get(asked.name) if asked else None
    theirs = [one for one in roster.collections.values() if caller.may_ask(one.name)]
    if asked is None or collection is None:
        raise not_found(model, theirs)
    if collection not in theirs:
        named = ", ".join(one.asked_as for one in theirs) or "none"
        raise NotAllowed(
            f'The gateway key "{caller.name}" may not ask {collection.asked_as}. It may ask: {named}.', param="model"
        )
    return asked, collection


def not_found(model: str, choices: Iterable[Collection]) -> Refusal:
    """The refusal of a name that is no collection, or of no name: there is no default and no guessing."""
    listed = "; ".join(_describe(collection) for collection in choices)
    choose = (
        f"Choose one of: {listed}"
        if listed
        else "This bench has no collection yet: add one in the dashboard or with load_bench"
    )
    if not model.strip():
        return BadRequest(f"No collection named: send one as the model. {choose}.", param="model", code="model_not_found")
    return NotFound(
        f"model {quoted(model)!r} not found: no collection is called that. {choose}.", param="model", code="model_not_found"
    )


def _describe(collection: Collection) -> str:
    description = f": {collection.description}" if collection.description else ""
    tags = f" [{', '.join(collection.tags)}]" if collection.tags else ""
    return f"{collection.asked_as}{description}{tags}"


def nominated_models(aliases: Sequence[str], caller: Caller, roster: Roster) -> list[LanguageModel]:
    """Return the models that `with` names, in the caller's order, each once. Raises BadRequest for an unknown alias."""
    return _models_named(aliases, "with", _known_to(caller, roster))


def named_merger(alias: str, caller: Caller, roster: Roster) -> LanguageModel | None:
    """Return the model that `bench.merger` names, if it names one. Raises BadRequest for an unknown alias."""
    return _models_named([alias], "bench.merger", _known_to(caller, roster))[0] if alias else None


def _known_to(caller: Caller, roster: Roster) -> frozenset[str] | None:
    """The aliases that a caller of some collections may name, those of their members; None: every one."""
    if caller.collections is None:
        return None
    theirs = (collection for collection in roster.collections.values() if caller.may_ask(collection.name))
    return frozenset(model.alias for collection in theirs for model in members_of(collection))


def _models_named(aliases: Sequence[str], field: str, known: frozenset[str] | None) -> list[LanguageModel]:
    if not aliases:
        return []
    named = LanguageModel.objects.select_related("endpoint").in_bulk(set(aliases), field_name="alias")
    know(named.values())
    for alias in aliases:
        if alias not in named or (known is not None and alias not in known):
            near = ", ".join(nearest_aliases(alias) if known is None else nearest(alias, sorted(known)))
            hint = f"Nearest: {near}." if near else "No alias is like it."
            raise BadRequest(f"{field} names {alias[:80]!r}, which is no model on this bench. {hint}", param=field)
    return [named[alias] for alias in dict.fromkeys(aliases)]
