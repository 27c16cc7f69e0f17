"""Gateway: the list of panels, narrowed by what its address says, and single rows of it for pages that are open."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin

from collections_app.models import Collection, Shape
from evidence.models import Call, Panel
from evidence.selectors import Wanted, find_panels, panels_among, verdict_counts
from keys.models import GatewayKey
from keys.services import LOCAL

STATUSES = (
    ("running", "still running"),
    ("all", "every seat answered"),
    ("some", "some seats did not answer"),
    ("none", "no seat answered"),
)
VERDICTS = (("owed", "owed"), ("given", "given"))
# Formats are the gateway's to know; here they are those that the latest panels came in.
LATEST = 1000
MOST_NAMES = 200
MOST_ROWS = 50


def show_list(site: ModelAdmin, request: HttpRequest) -> HttpResponse:
    wanted, before = read_wanted(request.GET), request.GET.get("before", "")
    found = find_panels(wanted, before=before)
    context = {
        **site.admin_site.each_context(request),
        "title": "Gateway",
        "opts": site.opts,
        "is_fullwidth": "1",
        "rows": _rows(found.panels),
        "found": found,
        "wanted": wanted,
        "is_narrowed": wanted != Wanted(),
        "is_newest": not before,
        "choices": _choices(wanted),
        "names": _names(),
        "narrowing": _narrowing(request.GET),
        "older": _narrowing(request.GET, before=found.older) if found.older else "",
    }
    return TemplateResponse(request, "evidence/panel_list.html", context)


def show_rows(site: ModelAdmin, request: HttpRequest) -> HttpResponse:
    """The rows of some panels as they are now, those that fit: what a page that is open puts in place of its own."""
    panel_ids = [panel_id for panel_id in request.GET.get("panels", "").split(",")[:MOST_ROWS] if panel_id]
    rows = _rows(panels_among(panel_ids, read_wanted(request.GET)))
    return HttpResponse(render_to_string("evidence/list_rows.html", {"rows": rows}, request))


def read_wanted(query: QueryDict) -> Wanted:
    """Return what a query narrows the list to; what it cannot mean narrows to nothing in particular."""
    return Wanted(
        words=query.get("q", ""),
        status=query.get("status", ""),
        verdicts=query.get("verdicts", ""),
        collection=query.get("collection", ""),
        shape=query.get("shape", ""),
        format=query.get("format", ""),
        asked_by=query.get("by", "").strip(),
        until=_day(query.get("until", "")),
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _rows(panels: Iterable[Panel]) -> list[dict[str, Any]]:
    return [
        {
            "panel": panel,
            "counts": verdict_counts(panel),
            "seconds": panel.seconds,
            "is_running": any(call.status == Call.Status.RUNNING for call in panel.calls.all()),
        }
        for panel in panels
    ]


def _choices(wanted: Wanted) -> list[dict[str, Any]]:
    """The lists to choose from: the name of each in the address, its title, its options, the one chosen."""
    formats = sorted(set(Panel.objects.order_by("-asked_at").values_list("format", flat=True)[:LATEST]))
    collections = [(one.asked_as, one.asked_as) for one in Collection.objects.only("name")[:MOST_NAMES]]
    shapes = Shape.objects.values_list("name", flat=True)
    return [
        _choice("status", "Status", STATUSES, wanted.status),
        _choice("verdicts", "Verdicts", VERDICTS, wanted.verdicts),
        _choice("collection", "Collection", collections, wanted.collection),
        _choice("shape", "Shape", [(name, name) for name in shapes], wanted.shape),
        _choice("format", "Format", [(name, name) for name in formats], wanted.format),
    ]


def _choice(name: str, title: str, options: Iterable[tuple[str, str]], chosen: str) -> dict[str, Any]:
    options = list(options)
    if chosen and chosen not in dict(options):
        # What is gone from the bench is in the log all the same.
        options.append((chosen, chosen))
    return {"name": name, "title": title, "options": options, "chosen": chosen}


def _names() -> list[str]:
    """Who may have asked: to choose from, and any other name may be typed."""
    return [LOCAL.name, *GatewayKey.objects.order_by("name").values_list("name", flat=True).distinct()[:MOST_NAMES]]


def _narrowing(query: QueryDict, *, before: str = "") -> str:
    """The query that narrows in the same way, from a panel on."""
    kept = QueryDict(mutable=True)
    for name in ("q", "status", "verdicts", "collection", "shape", "format", "by", "until"):
        if query.get(name):
            kept[name] = str(query[name])
    if before:
        kept["before"] = before
    return kept.urlencode()
