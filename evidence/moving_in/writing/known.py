"""Which model an alias of the predecessor is here: what evidence is written down under."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.moving_in.reading.models import current
from evidence.moving_in.reading.names import alias_here
from evidence.moving_in.reading.values import OldModel
from evidence.moving_in.writing.roster import Brought


@dataclass(frozen=True, slots=True)
class Known:
    """A call's model; `language_model_id` is None for one that is not here, of which the rest may be empty."""

    alias: str
    endpoint_name: str = ""
    served_id: str = ""
    language_model_id: int | None = None


class Directory:
    """Every alias that the predecessor knew, by its name of today: a renamed model keeps its whole record."""

    def __init__(self, models: Iterable[OldModel], renamed: Mapping[str, Any], brought: Brought) -> None:
        self._renamed = renamed
        self._known = {model.alias: _known(model, brought) for model in models}

    def of(self, alias: str) -> Known:
        name = current(alias, self._renamed)
        return self._known.get(name) or Known(alias_here(name) or "unnamed")


def _known(model: OldModel, brought: Brought) -> Known:
    row = brought.models.get(model.alias)
    if row is None:
        return Known(alias_here(model.alias) or "unnamed", model.endpoint[:32], model.served_id[:200])
    return Known(row.alias, model.endpoint, row.served_id, row.pk)
