"""Which kind of task a request is: the collection's own shape, else what the request shows, else general."""

from dataclasses import dataclass

from collections_app.models import Collection, LanguageModel
from collections_app.roster import Roster

GENERAL = "general"


@dataclass(frozen=True, slots=True)
class ChosenShape:
    name: str
    by: str
    roles: tuple[str, ...]


def choose_shape(collection: Collection, images: int, roster: Roster) -> ChosenShape:
    """Choose a shape and say why."""
    if collection.shape:
        return ChosenShape(collection.shape.name, "set on the collection", tuple(collection.shape.roles))
    if images:
        return _shipped(roster, "vision", "the request has images")
    return _shipped(roster, GENERAL, "no decision model is onboarded to pick one")


def _shipped(roster: Roster, name: str, by: str) -> ChosenShape:
    """A shape by name. An operator may have deleted the row: then general models explore, as on any bench."""
    row = roster.shapes.get(name)
    return ChosenShape(name, by, tuple(row.roles) if row else (LanguageModel.Role.GENERAL,))
