"""The latest panels that fit a search, a page at a time, in bounded time however long the log is.

Nothing is counted, and no index of words is kept: the log is looked at backwards, as far as the time allows, and whoever wants
to know what is further back asks again from there. See docs/decisions.md for why.
"""

import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import NegatedExpression
from django.db.models.functions import Substr

from evidence.models import Call, Panel
from evidence.selectors.calls import has_verdict, panels_listed
from evidence.storable import clean_text

PAGE = 50
EXCERPT = 160
# A panel's id, or one of its calls'.
_ID = re.compile(r"(p\d{8}-\d{6}-[0-9a-f]{4})(?:\.\w+)?")
# SQLite refuses a LIKE pattern of 50,000 bytes.
_LONGEST_WORDS = 500

# How long a page may look, and in how many stretches: the first is short, and how long it took says how long the next may be.
SECONDS = 0.2
_FIRST_STRETCH = 300
_LONGEST_STRETCH = 100_000
_MOST_STRETCHES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What panels are narrowed to; empty: not by that."""

    words: str = ""
    status: str = ""
    verdicts: str = ""
    collection: str = ""
    shape: str = ""
    format: str = ""
    asked_by: str = ""
    until: date | None = None

    @property
    def panel_id(self) -> str:
        """The one panel that is looked for by its id or a call's, else empty."""
        found = _ID.fullmatch(self.words.strip())
        return found[1] if found else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One page of panels, the newest first. `older` is the panel to go on from, empty where the log ends.

    `looked_back_to`: where the time was over with the page not full; what is older has not been looked at.
    """

    panels: list[Panel]
    older: str = ""
    looked_back_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Position:
    """A place in the log: everything after it is older."""

    asked_at: datetime
    pk: int
    panel_id: str = ""


def find_panels(wanted: Wanted, *, before: str = "") -> Found:
    """Return a page of the panels that fit, of those older than the panel `before`, in at most 15 queries."""
    if wanted.panel_id:
        return Found(panels=_rows(Panel.objects.filter(panel_id=wanted.panel_id)))
    pks, end = _look_back(wanted, _start(wanted, before))
    panels = _rows(Panel.objects.filter(pk__in=pks[:PAGE]))
    if len(pks) > PAGE:
        return Found(panels=panels, older=panels[-1].panel_id)
    return Found(panels=panels, older=end.panel_id, looked_back_to=end.asked_at) if end else Found(panels=panels)


def _look_back(wanted: Wanted, place: _Position | None) -> tuple[list[int], _Position | None]:
    """Look for one panel more than a page has; returns those found, and how far it has looked, None: to the log's end."""
    pks: list[int] = []
    stretch, looked, began = _FIRST_STRETCH, 0.0, time.monotonic()
    for _ in range(_MOST_STRETCHES):
        end = _end_of_stretch(place, stretch)
        within = narrowed(_between(place, end), wanted)
        pks += within.values_list("pk", flat=True)[: PAGE + 1 - len(pks)]
        place = end
        looked = time.monotonic() - began
        if len(pks) > PAGE or end is None or looked > SECONDS:
            break
        stretch = _next_stretch(stretch, looked)
    return pks, place


def panels_among(panel_ids: Collection[str], wanted: Wanted) -> list[Panel]:
    """Return those of some panels that fit, as a list shows them."""
    return _rows(narrowed(Panel.objects.filter(panel_id__in=panel_ids), wanted))


def narrowed(panels: QuerySet[Panel], wanted: Wanted) -> QuerySet[Panel]:
    """Return the panels that fit: by what they hold, not by when they were asked."""
    # By name and not by row: so the index of time is used, and a collection that is gone can be asked for.
    columns = {
        "collection_name": wanted.collection,
        "shape": wanted.shape,
        "format": wanted.format,
        "asked_by": wanted.asked_by,
    }
    panels = panels.filter(**{name: clean_text(value) for name, value in columns.items() if value})
    panels = _of_status(_of_verdicts(panels, wanted.verdicts), wanted.status)
    words = clean_text(wanted.words.strip()[:_LONGEST_WORDS])
    if not words:
        return panels
    if wanted.panel_id:
        return panels.filter(panel_id=wanted.panel_id)
    said = Q(answer__icontains=words) | Q(error__icontains=words) | Q(alias__icontains=words)
    return panels.filter(Q(panel_id__icontains=words) | Q(request__icontains=words) | _calls(said))


def _of_status(panels: QuerySet[Panel], status: str) -> QuerySet[Panel]:
    running, answered = _calls(Q(status=Call.Status.RUNNING)), _calls(Q(status=Call.Status.OK))
    failed = _calls(Q(status__in=(Call.Status.EMPTY, Call.Status.ERROR)))
    match status:
        case "running":
            # Few run at any time, and they have an index of their own: no look into every panel.
            return panels.filter(pk__in=Call.objects.filter(status=Call.Status.RUNNING).values("panel_id"))
        case "all":
            return panels.filter(~running, ~failed, answered)
        case "some":
            return panels.filter(~running, failed, answered)
        case "none":
            return panels.filter(~running, ~answered)
    return panels


def _of_verdicts(panels: QuerySet[Panel], verdicts: str) -> QuerySet[Panel]:
    match verdicts:
        case "owed":
            return panels.filter(_calls(Q(status=Call.Status.OK), ~has_verdict()))
        case "given":
            return panels.filter(_calls(has_verdict()))
    return panels


def _calls(*conditions: "Q | Exists | NegatedExpression[Any]") -> Exists:
    return Exists(Call.objects.filter(*conditions, panel=OuterRef("pk")))


def _start(wanted: Wanted, before: str) -> _Position | None:
    """Where to begin: behind the panel named, or at the end of the last day wanted, whichever is older; None: at the newest."""
    places = []
    # No day comes after the last that there is: it narrows to nothing.
    if wanted.until and wanted.until < date.max:
        places.append(_Position(datetime.combine(wanted.until + timedelta(days=1), time_of_day.min, UTC), 0))
    named = Panel.objects.filter(panel_id=clean_text(before)).values_list("asked_at", "pk", "panel_id").first()
    if before and named:
        places.append(_Position(*named))
    return min(places, key=lambda place: (place.asked_at, place.pk), default=None)


def _end_of_stretch(place: _Position | None, panels: int) -> _Position | None:
    """The last of so many panels from a place on, or None where the log ends before: from the index alone."""
    rows = _between(place, None).values_list("asked_at", "pk", "panel_id")
    return next((_Position(*row) for row in rows[panels - 1 : panels]), None)


def _between(newest: _Position | None, oldest: _Position | None) -> QuerySet[Panel]:
    """The panels after one place up to another, which is among them."""
    panels = Panel.objects.order_by("-asked_at", "-pk")
    if newest:
        panels = panels.filter(asked_at__lte=newest.asked_at).exclude(asked_at=newest.asked_at, pk__gte=newest.pk)
    if oldest:
        panels = panels.filter(asked_at__gte=oldest.asked_at).exclude(asked_at=oldest.asked_at, pk__lt=oldest.pk)
    return panels


def _next_stretch(stretch: int, looked: float) -> int:
    """As many as may be looked at in what is left of the time, at the pace so far, with a half of it to spare."""
    possible = stretch * (SECONDS - looked) / (2 * max(looked, 0.001))
    return max(_FIRST_STRETCH, min(_LONGEST_STRETCH, int(possible)))


def _rows(panels: QuerySet[Panel]) -> list[Panel]:
    wanted = panels_listed().filter(pk__in=list(panels.values_list("pk", flat=True)))
    return list(wanted.annotate(excerpt=Substr("request", 1, EXCERPT)))
