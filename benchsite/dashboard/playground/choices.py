"""What can be chosen on the playground's form: each collection with what it takes and how many sit, and whom to nominate."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchsite.dashboard.playground.asking import MOST_NOMINATED, Wanted
from collections_app.models import Collection, LanguageModel, Limits
from collections_app.selectors import Together, all_collections, current_limits, know, members_of, seat_arithmetic, together


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionShown:
    """One collection. `reply` is what it answers with where nothing else is said."""

    name: str
    asked_as: str
    description: str
    tags: Sequence[str]
    members: Sequence[str]
    seats: str
    explorers: int
    together: Together
    reply: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """`nominations`: one field for each explorer seat that there can be, filled or empty."""

    collections: Sequence[CollectionShown]
    aliases: Sequence[str]
    nominations: Sequence[str]


def choices(wanted: Wanted) -> Choices:
    """Read what there is to choose: six queries, however many collections and models there are."""
    collections, limits = all_collections(), current_limits()
    know(model for collection in collections for model in members_of(collection))
    aliases = LanguageModel.objects.exclude(status=LanguageModel.Status.RETIRED).order_by("alias")
    chosen = wanted.name if any(one.name == wanted.name for one in collections) else ""
    only = collections[0].name if len(collections) == 1 else ""
    fields = max(len(wanted.nominated), min(MOST_NOMINATED, limits.max_explorers))
    return Choices(
        collections=[_shown(one, limits, is_chosen=one.name == (chosen or only)) for one in collections],
        aliases=list(aliases.values_list("alias", flat=True)),
        nominations=[*wanted.nominated, *[""] * (fields - len(wanted.nominated))],
    )


def _shown(collection: Collection, limits: Limits, *, is_chosen: bool) -> CollectionShown:
    members = members_of(collection)
    return CollectionShown(
        name=collection.name,
        asked_as=collection.asked_as,
        description=collection.description,
        tags=collection.tags,
        members=[model.alias for model in members],
        seats=seat_arithmetic(len(members), limits),
        explorers=limits.explorers_beside(len(members)),
        together=together(members),
        reply=collection.reply,
        is_chosen=is_chosen,
    )
