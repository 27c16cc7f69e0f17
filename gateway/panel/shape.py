"""Which kind of task a request is: the collection's own shape, else what the request shows, what is picked, or general.

Says why; asks nobody. Whoever picks is asked by workers/deciding.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from collections_app.models import Collection, DecisionModel, LanguageModel, Shape
from collections_app.roster import Roster
from gateway.chat import ChatRequest, TextPart
from gateway.redact import hide_images
from gateway.upstream.contract import UpstreamError
from gateway.upstream.decisions.contract import Decision

GENERAL = "general"
# Known by its images, and by nothing that a text says.
VISION = "vision"
ANYTHING_ELSE = "Anything else"
SURE_ENOUGH = 0.6
LONGEST_BY = 200
# Characters of the prompt that are sent to whoever picks.
LONGEST_TEXT = 20_000
# Images are looked for in more than that, since each shrinks to a placeholder; in no more than this, however long a text is.
_LONGEST_READ = 20 * LONGEST_TEXT


@dataclass(frozen=True, slots=True)
class ChosenShape:
    name: str
    by: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShapeQuestion:
    """A shape that is still to be picked: by whom, and from which."""

    picker: DecisionModel
    shapes: Mapping[str, Shape]

    @property
    def options(self) -> dict[str, str]:
        """What there is to choose from, as it is described: bare names mislead."""
        options = {name: shape.description for name, shape in self.shapes.items() if name != VISION}
        return options if GENERAL in options else {**options, GENERAL: ANYTHING_ELSE}

    def answered(self, decision: Decision) -> ChosenShape:
        """The shape that was picked, or general when the pick is not good enough, and why."""
        choice, sure = decision.choice, f"{decision.confidence:.2f}"
        if choice not in self.options:
            return self._general("chose no shape of this bench")
        if decision.confidence < SURE_ENOUGH:
            return self._general(f"was not sure enough: {choice} at {sure}")
        return _by_name(self.shapes, choice, f"picked by {self.picker.alias} at {sure}")

    def failed(self, error: UpstreamError) -> ChosenShape:
        """General, and what kind of failure is why; the endpoint's own words are in the dashboard."""
        return self._general(f"did not pick one: {error.kind.replace('_', ' ')}")

    def not_asked(self, why: str) -> ChosenShape:
        """General, where a limit of the account is in the way."""
        return self._general(f"was not asked: {why}")

    def _general(self, why: str) -> ChosenShape:
        return _by_name(self.shapes, GENERAL, f"{self.picker.alias} {why}"[:LONGEST_BY])


def choose_shape(collection: Collection, images: int, roster: Roster, explorer_seats: int) -> ChosenShape | ShapeQuestion:
    """Choose a shape and say why, or who is to be asked for one. `explorer_seats`: those that nobody has been named for."""
    if collection.shape:
        return ChosenShape(collection.shape.name, "set on the collection", tuple(collection.shape.roles))
    if images:
        return _by_name(roster.shapes, VISION, "the request has images")
    pickers = [model for model in roster.decision_models if model.picks_shapes]
    if not pickers:
        return _by_name(roster.shapes, GENERAL, "no decision model is onboarded to pick one")
    if explorer_seats <= 0:
        return _by_name(roster.shapes, GENERAL, "no explorer seat is left, so none was picked")
    # The first by alias; another stands in while that one cools down.
    picker = next((model for model in pickers if roster.cool_down_of(model) is None), None)
    if picker is None:
        return _by_name(roster.shapes, GENERAL, f"{', '.join(model.alias for model in pickers)}: cooling down"[:LONGEST_BY])
    return ShapeQuestion(picker, roster.shapes)


def text_to_shape(chat: ChatRequest) -> str:
    """What whoever picks is told of a request: the beginning of the last user's text, and nothing of an image."""
    last = next((message for message in reversed(chat.messages) if message.role == "user"), None)
    texts = [part.text for part in last.parts if isinstance(part, TextPart)] if last else []
    return hide_images("\n".join(texts)[:_LONGEST_READ], chat.image_urls)[:LONGEST_TEXT]


def _by_name(shapes: Mapping[str, Shape], name: str, by: str) -> ChosenShape:
    """A shape by name. An operator may have deleted the row: then general models explore, as on any bench."""
    row = shapes.get(name)
    return ChosenShape(name, by, tuple(row.roles) if row else (LanguageModel.Role.GENERAL,))
