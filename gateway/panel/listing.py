"""The collections as lists of models show them: each in both reply modes."""

from collections.abc import Iterator

from collections_app.models import Collection, Limits
from collections_app.selectors import all_collections, current_limits, members_of, together
from gateway.panel.naming import not_found
from gateway.wire.contract import ListedCollection


def listed_collections() -> list[ListedCollection]:
    """Every collection, first in its own mode, then in the other."""
    limits = current_limits()
    return [listed for collection in all_collections() for listed in _both_modes(collection, limits)]


def listed_collection(model: str) -> ListedCollection:
    """The collection that a model name asks for. Raises a Refusal with the list of those there are."""
    wanted = model.removesuffix(":latest")
    wanted = wanted if wanted.startswith("bench/") else f"bench/{wanted}"
    for listed in listed_collections():
        if wanted in (listed.id, f"{listed.id}:{listed.reply}"):
            return listed
    raise not_found(model, all_collections())


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
            output_limit=min((model.output_limit for model in members if model.output_limit), default=None),
            capabilities=known.capabilities,
            created=int(collection.created_at.timestamp()),
        )
