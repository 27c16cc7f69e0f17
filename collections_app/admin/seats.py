"""What a collection's members make together: seats, what every one of them takes, and what to know before asking it.

For its form, its place in the list, and the preview of who would sit, which is the site's.
"""

from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from collections_app.models import LanguageModel, Limits, Shape
from collections_app.selectors import FEW, MANY, Advice, membership_advice, seat_arithmetic, together

VISION = "vision"


def advice_on(members: Sequence[LanguageModel], limits: Limits, shape: Shape | None) -> dict[str, Any]:
    """What a form and a preview show of members, who know what is known of them. Retired ones do not sit."""
    sitting = [model for model in members if model.status != LanguageModel.Status.RETIRED]
    known = together(sitting)
    windows = {model.alias: model.known.get("context_window") for model in sitting}
    return {
        "sum": seat_arithmetic(len(members), limits),
        "limits": limits,
        "in_range": FEW <= len(members) <= MANY,
        "together": known,
        "smallest": [alias for alias, window in windows.items() if window and window == known.context_window],
        "unknown": [alias for alias, window in windows.items() if not window],
        "advice": [*membership_advice(members), *_more_advice(members, sitting, limits, shape)],
    }


def seats_in_form(members: Sequence[LanguageModel], limits: Limits, shape: Shape | None) -> SafeString:
    return render_to_string("collections_app/seats.html", advice_on(members, limits, shape))


def seats_in_list(members: Sequence[LanguageModel], limits: Limits) -> SafeString:
    """The sum, and in a word what to know: by the rows alone, for a list asks no catalog."""
    context = {
        "sum": seat_arithmetic(len(members), limits),
        "members": len(members),
        "explorers": limits.explorers_beside(len(members)),
        "advice": membership_advice(members),
    }
    return render_to_string("collections_app/seats_in_list.html", context)


def _more_advice(
    members: Sequence[LanguageModel], sitting: Sequence[LanguageModel], limits: Limits, shape: Shape | None
) -> list[Advice]:
    """What only matters to who changes a collection or looks at it closely."""
    advice = []
    if len(sitting) > limits.max_calls:
        cost = f"{len(sitting)} members all sit, beyond the {limits.max_calls} seats of a panel, and each costs a call."
        advice.append(Advice("over the limit", cost))
    if sitting and not any(model.known.get("vision") for model in sitting):
        blind = "No member is known to take images: a request that has one is refused"
        advice.append(Advice("no vision", f"{blind}{', and that is what this shape is for' if _is_vision(shape) else ''}."))
    if retired := [model.alias for model in members if model not in sitting]:
        advice.append(Advice("retired", f"Retired, and so skipped: {', '.join(retired)}."))
    return advice


def _is_vision(shape: Shape | None) -> bool:
    return shape is not None and shape.name == VISION
