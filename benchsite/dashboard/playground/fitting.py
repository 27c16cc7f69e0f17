"""How large the prompt is that a person writes, and which members it is too large for, before it is asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchsite.dashboard.playground.asking import Wanted, messages_of
from collections_app.models import Collection, LanguageModel
from collections_app.selectors import know, members_of
from gateway.chat import ImagePart
from gateway.panel.size import estimate, fits

# Stands for an image while nothing is sent: its size is not counted, that there is one is.
_ANY_IMAGE = ImagePart("data:image/png;base64,")


@dataclass(frozen=True, slots=True)
class Small:
    """A member that a prompt is too large for, its window in tokens and who says so."""

    alias: str
    window: int
    by: str


@dataclass(frozen=True, slots=True)
class Fit:
    """A prompt beside a collection. `blind`: members that are not known to take its image."""

    tokens: int
    too_small: Sequence[Small]
    blind: Sequence[str]


def fit(wanted: Wanted, *, images: int) -> Fit:
    """Measure a prompt against the members of its collection: four queries at most."""
    tokens = estimate(messages_of(wanted, [_ANY_IMAGE] * images))
    members = _members(wanted.name)
    sitting = [model for model in members if not images or model.known.get("vision") is True]
    return Fit(
        tokens,
        too_small=[_small(model) for model in sitting if not fits(tokens, model)],
        blind=[model.alias for model in members if model not in sitting],
    )


def _members(name: str) -> list[LanguageModel]:
    collection = Collection.objects.filter(name=name).first()
    members = [
        model for model in (members_of(collection) if collection else []) if model.status != LanguageModel.Status.RETIRED
    ]
    know(members)
    return members


def _small(model: LanguageModel) -> Small:
    held = model.known.held("context_window")
    return Small(model.alias, held.value if held else 0, held.by if held else "")
