"""The collections as lists of models show them: each in both reply modes."""

from collections.abc import Iterator
from typing import Any

from collections_app.models import Collection, Limits
from collections_app.roster import roster_keeper
from collections_app.selectors import members_of, together
from gateway.panel.naming import collection_for
from gateway.wire.contract import ListedCollection
from keys.services import Caller


def listed_collections(caller: Caller) -> list[ListedCollection]:
    """Every collection that the caller may ask, first in its own mode, then in the other."""
    return [listed for both in _theirs(caller) for listed in both]


def collections_to_ask(caller: Caller) -> list[dict[str, Any]]:
    """Every collection that the caller may ask, once each, with what tells which of them a task is for."""
    return [{"name": own.id, **own.as_bench(), "other_reply": other.id} for own, other in _theirs(caller)]


def listed_collection(caller: Caller, model: str) -> ListedCollection:
    """The collection that a model name asks for. Raises a Refusal with the list of those that the caller may ask."""
    roster = roster_keeper().current()
    asked, collection = collection_for(caller, model, roster)
    own, other = _both_modes(collection, roster.limits)
    return other if asked.reply == other.reply else own


def _theirs(caller: Caller) -> Iterator[Iterator[ListedCollection]]:
    roster = roster_keeper().current()
    theirs = (collection for collection in roster.collections.values() if caller.may_ask(collection.name))
    return (_both_modes(collection, roster.limits) for collection in theirs)


def _both_modes(collection: Collection, limits: Limits) -> Iterator[ListedCollection]:
    members = members_of(collection)
    known = together(members)
    other = Collection.Reply.ALL if collection.reply == Collection.Reply.MERGED else Collection.Reply.MERGED
    for name, reply in ((collection.asked_as, collection.reply), (f"{collection.asked_as}:{other}", other)):
        yield ListedCollection(
            id=name,
            description=collection.description,
            tags=collection.tags,
            members=[model.alias for model in members],
            shape=collection.shape.name if collection.shape else "",
            reply=reply,
            merger=collection.merger.alias if collection.merger else "",
            explorers=limits.explorers_beside(len(members)),
            context_window=known.context_window,
            output_limit=min((most for model in members if (most := model.known.get("output_limit"))), default=None),
            capabilities=known.capabilities,
            created=int(collection.created_at.timestamp()),
        )
