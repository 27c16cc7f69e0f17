"""A panel as a line of the gateway's log has it, with every seat that can be read of it."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from evidence.moving_in.reading.fields import UnusableError, moment, seconds, text
from evidence.moving_in.reading.values import OldPanel, OldSeat

STATUSES = ("ok", "empty", "error")
PANEL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,23}")
CALL_ID = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]{0,23})\.([A-Za-z0-9][A-Za-z0-9_-]{0,19})")
_TIME_IN_ID = re.compile(r"[a-z](\d{8})-(\d{6})-")
# A panel took no longer; an id further from the end than that was made on another clock.
LONGEST_PANEL = timedelta(days=1)
Tell = Callable[[str], None]


def read_panel(entry: Mapping[str, Any], tell: Tell) -> OldPanel:
    """One line's panel; `tell` hears of what could not be read of it. Raises UnusableError where there is none."""
    panel_id = text(entry, "panel", None)
    if not PANEL_ID.fullmatch(panel_id):
        raise UnusableError("panel is no panel's id")
    seats = entry.get("seats")
    if not isinstance(seats, list):
        raise UnusableError("seats is no list")
    system, prompt = text(entry, "system"), text(entry, "prompt")
    return OldPanel(
        panel_id=panel_id,
        asked_at=_asked_at(panel_id, entry.get("at"), tell),
        asked_by=text(entry, "key").strip() or "local",
        collection=text(entry, "model").strip(),
        shape=text(entry, "shape").strip() or "general",
        shape_by=text(entry, "shape_by"),
        request="\n\n".join(f"{role}: {said}" for role, said in (("system", system), ("user", prompt)) if said),
        seats=tuple(_seats(panel_id, seats, tell)),
        skipped=tuple(_skipped(entry.get("skipped"))),
    )


def time_in_id(identity: str) -> datetime | None:
    """When a panel was asked by the clock of its machine, which is in its id; without a zone."""
    found = _TIME_IN_ID.match(identity)
    when = moment(f"{found[1]}T{found[2]}") if found else None
    return when.replace(tzinfo=None) if when else None


def _asked_at(panel_id: str, at: Any, tell: Tell) -> datetime:
    """When it was asked: the log's `at` is when it was over, in the zone that the id's time is in."""
    over, asked = moment(at), time_in_id(panel_id)
    if over is None:
        if asked is None:
            raise UnusableError("at is no date and time")
        tell("at is no date and time: the one in the panel's id is taken")
        return asked.replace(tzinfo=UTC)
    if asked is None:
        return over
    zone = datetime.fromisoformat(at).utcoffset() or timedelta()
    began = asked.replace(tzinfo=UTC) - zone
    return began if timedelta() <= over - began <= LONGEST_PANEL else over


def _seats(panel_id: str, seats: list[Any], tell: Tell) -> Iterator[OldSeat]:
    seen = set()
    for number, seat in enumerate(seats, 1):
        try:
            found = _seat(panel_id, seat)
            if found.seat_name in seen:
                raise UnusableError("its call is there twice")
        except UnusableError as why:
            tell(f"its seat {number} was left out: {why}")
        else:
            seen.add(found.seat_name)
            yield found


def _seat(panel_id: str, seat: Any) -> OldSeat:
    if not isinstance(seat, dict):
        raise UnusableError("no object")
    call = CALL_ID.fullmatch(text(seat, "call", None))
    if not call or call[1] != panel_id:
        raise UnusableError("call is no call's id of this panel")
    status = text(seat, "status", None)
    if status not in STATUSES:
        raise UnusableError(f"status is none of {', '.join(STATUSES)}")
    return OldSeat(
        seat_name=call[2],
        alias=text(seat, "alias", None),
        status=status,
        seconds=seconds(seat.get("seconds")),
        answer=text(seat, "answer"),
        error=text(seat, "error"),
    )


def _skipped(skipped: Any) -> Iterator[Mapping[str, str]]:
    """Those not asked, in this bench's words for seats; what is none of them is left away."""
    for one in skipped if isinstance(skipped, list) else ():
        if isinstance(one, dict) and isinstance(one.get("alias"), str):
            seat = {"with": "explorer", "explorer": "explorer", "merger": "merger"}.get(str(one.get("seat")), "member")
            why = one.get("why")
            yield {"seat": seat, "alias": one["alias"], "why": why if isinstance(why, str) else ""}
