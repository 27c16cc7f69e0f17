"""Judging blind: seats in an order that tells nothing, under names that tell nothing, until each has its verdict."""

from collections.abc import Sequence
from string import ascii_uppercase

from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from evidence.models import Call


def is_blind(request: HttpRequest) -> bool:
    """Remembered in the address alone: whoever opens the page without it sees names."""
    return request.GET.get("blind") == "1"


def key_of(panel_id: str, seat_name: str, *, blind: bool) -> str:
    """What a seat is called in addresses and in the page."""
    if not blind:
        return seat_name
    # Of this site's secret: nobody works out which seat it stands for. A letter first, for it is an element's id too.
    return "s" + salted_hmac("evidence.blind", f"{panel_id}.{seat_name}", algorithm="sha256").hexdigest()[:12]


def shuffled(panel_id: str, calls: Sequence[Call]) -> list[Call]:
    """The same order each time; a merged answer last, since its text says what it is."""
    return sorted(
        calls, key=lambda call: (call.seat_name == Call.MERGER, key_of(panel_id, call.seat_name, blind=True), call.seat_name)
    )


def letter_of(position: int) -> str:
    """A, B, ... Z, A2: panels have at most a few dozen seats."""
    more, letter = divmod(position, len(ascii_uppercase))
    return f"Answer {ascii_uppercase[letter]}{more + 1 if more else ''}"


def has_name_shown(call: Call, calls: Sequence[Call]) -> bool:
    """Whether a seat's name may be shown: it has a verdict, or none that could get one is still without."""
    if call.verdict is not None:
        return True
    judgeable = (one for one in calls if one.status in (Call.Status.OK, Call.Status.RUNNING))
    return call.status not in (Call.Status.OK, Call.Status.RUNNING) and all(one.verdict for one in judgeable)


def tells_names(call: Call, calls: Sequence[Call]) -> bool:
    """Whether what a seat wrote would give names away: a merged answer says who said what, so the others are judged first."""
    others = (one for one in calls if one.seat_name != Call.MERGER and one.status in (Call.Status.OK, Call.Status.RUNNING))
    return call.seat_name == Call.MERGER and call.verdict is None and not all(one.verdict for one in others)
