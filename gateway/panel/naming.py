"""Which collection a model name asks for, in which reply mode, and what to say when it asks for none."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from collections_app.models import Collection
from gateway.chat import ReplyMode
from gateway.errors import BadRequest, NotFound, Refusal

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
    return NotFound(f"There is no collection {model[:100]!r}. {choose}.", param="model", code="model_not_found")


def _describe(collection: Collection) -> str:
    description = f": {collection.description}" if collection.description else ""
    tags = f" [{', '.join(collection.tags)}]" if collection.tags else ""
    return f"{collection.asked_as}{description}{tags}"
