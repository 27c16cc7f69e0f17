"""Answers of a caller that wait for its verdict, the newest first: what each was asked, and by which id it is judged.

Ranks nothing; which verdict would tell the most is owed.py's.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Substr

from evidence.errors import NotYours, UnknownPanel
from evidence.models import Call, Panel
from evidence.selectors.calls import verdicts_owed
from evidence.storable import clean_text
from keys.services import LOCAL

# How far into a logged request its first question is looked for, past what a system prompt says.
READ_CHARACTERS = 4_000
LONGEST_LINE = 200
# The newest rows that are looked at: where everything has been judged, all of a long log would be, while panels wait.
LOOKED_AT = 50_000
# As the call log puts one turn after another.
_USER = "user: "


@dataclass(frozen=True, slots=True, kw_only=True)
class OwedCall:
    """One answer without a verdict. `question` is the first line of what was asked."""

    call: str
    panel: str
    collection: str
    alias: str
    seat: str
    shape: str
    asked_at: datetime
    question: str

    def as_json(self) -> dict[str, Any]:
        return {
            "call": self.call,
            "panel": self.panel,
            "collection": self.collection,
            "alias": self.alias,
            "seat": self.seat,
            "shape": self.shape,
            "asked_at": f"{self.asked_at:%Y-%m-%dT%H:%M:%SZ}",
            "question": self.question,
        }


@dataclass(frozen=True, slots=True)
class OwedPage:
    """`more`: others wait too."""

    calls: list[OwedCall]
    more: bool


def owed_page(caller_name: str, *, limit: int, panel_id: str = "") -> OwedPage:
    """Return the answers that a caller may judge and has not, of the newest LOOKED_AT: `local` may judge all.

    At most three queries. Raises UnknownPanel, NotYours.
    """
    mine = None if caller_name == LOCAL.name else caller_name
    owed = verdicts_owed(mine)
    owed = owed.filter(panel=_panel(panel_id, mine)) if panel_id else _recent(owed, mine)
    found = list(_with_question(owed)[: limit + 1])
    return OwedPage([_owed(call) for call in found[:limit]], more=len(found) > limit)


def _recent(owed: QuerySet[Call], asked_by: str | None) -> QuerySet[Call]:
    """Those of the newest rows, by the column that their order is found by."""
    if asked_by is None:
        newest = Call.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        return owed.filter(pk__gt=newest - LOOKED_AT)
    panels = Panel.objects.order_by("-pk")
    newest = panels.values_list("pk", flat=True).first() or 0
    older = panels.filter(pk__lte=newest - LOOKED_AT).values_list("asked_at", flat=True).first()
    return owed.filter(panel__asked_at__gt=older) if older else owed


def _panel(panel_id: str, asked_by: str | None) -> Panel:
    panel = Panel.objects.filter(panel_id=clean_text(panel_id)).only("asked_by").first()
    if panel is None:
        raise UnknownPanel(panel_id)
    if asked_by not in (None, panel.asked_by):
        raise NotYours(f"panel {panel_id}")
    return panel


def _with_question(owed: QuerySet[Call]) -> QuerySet[Any]:
    """The calls with the beginning of what was asked, which may be megabytes, and without their answers."""
    shown = ("seat_name", "alias", "shape", "asked_at", "panel__panel_id", "panel__collection_name")
    return owed.only(*shown).annotate(request_head=Substr("panel__request", 1, READ_CHARACTERS))


def _owed(call: Any) -> OwedCall:
    return OwedCall(
        call=call.call_id,
        panel=call.panel.panel_id,
        collection=call.panel.collection_name,
        alias=call.alias,
        seat=call.seat_name.rstrip("0123456789"),
        shape=call.shape,
        asked_at=call.asked_at,
        question=_first_line(call.request_head),
    )


def _first_line(request: str) -> str:
    """The first line of the first question in a logged request; of the request itself where none is near its beginning."""
    _, _, asked = f"\n\n{request}".partition(f"\n\n{_USER}")
    return next((line.strip() for line in (asked or request).splitlines() if line.strip()), "")[:LONGEST_LINE]
