"""A verdict given on the playground, on a seat as it is shown there: without its name, where names are hidden."""

from typing import Any

from django.http import QueryDict

from benchsite.dashboard.playground.asking import caller_of
from benchsite.dashboard.playground.seats import PanelShown
from evidence.serializers import read_verdict
from evidence.services import record_verdict
from gateway.errors import NotFound


def judge(shown: PanelShown, key: str, posted: QueryDict, *, user: str) -> None:
    """Write one verdict down. Raises an APIException that says why not: evidence/errors.py, MalformedVerdict among them."""
    seat = next((seat for seat in shown.seats if seat.key == key), None)
    if seat is None or seat.call is None:
        raise NotFound("There is no such answer on this panel.")
    call_id = f"{shown.panel.panel_id}.{seat.call.seat_name}"
    fields = read_verdict({"call": call_id, **_said(posted)})
    record_verdict(call_id=fields.pop("call"), given_by=caller_of(user).name, **fields)


def _said(posted: QueryDict) -> dict[str, Any]:
    return {
        "useful": posted.get("useful") == "1",
        "note": posted.get("note", "").replace("\r\n", "\n").strip(),
        "real": _claims(posted.get("real", "")),
        "false": _claims(posted.get("false", "")),
    }


def _claims(text: str) -> list[str]:
    return [claim for line in text.splitlines() if (claim := line.strip())]
