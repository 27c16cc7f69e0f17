"""Decision models: where each answered typed questions, and which types."""

from typing import Any

from evidence.moving_in.reading.fields import UnusableError, text, texts
from evidence.moving_in.reading.values import OldDecisionModel


def read_decision_model(alias: str, entry: Any) -> OldDecisionModel:
    """One decision model. Raises UnusableError."""
    if not isinstance(entry, dict):
        raise UnusableError("no object")
    return OldDecisionModel(
        alias=alias,
        # It was listed by one endpoint, and asked by way of another.
        endpoint=text(entry, "via") or text(entry, "endpoint", None),
        served_id=text(entry, "served", None),
        path=text(entry, "path") or "decisions",
        question_types=tuple(dict.fromkeys(texts(entry, "question_types"))),
    )
