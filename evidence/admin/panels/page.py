"""One panel's page, one seat's page, what of them has changed, and each text whole."""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin

from evidence.admin.panels.blind import is_blind
from evidence.admin.panels.seats import FOLDED_CHARACTERS, Seats, Showing, seats_of
from evidence.admin.panels.verdict_form import VerdictForm
from evidence.models import Call, Panel
from evidence.selectors import TEXTS, verdict_counts, whole_request, whole_text

MOST_HELD = 200
REQUEST = "request"


def show_panel(site: ModelAdmin, request: HttpRequest, *, panel: Panel) -> HttpResponse:
    return render_panel(site, request, panel)


def show_seat(site: ModelAdmin, request: HttpRequest, *, panel: Panel, key: str) -> HttpResponse:
    return render_seat(site, request, panel, key=key)


def show_changed(site: ModelAdmin, request: HttpRequest, *, panel: Panel) -> HttpResponse:
    """What a page does not have yet: it sends the seats that it shows, as key:status."""
    held = set(request.GET.get("have", "").split(",")[:MOST_HELD])
    seats = seats_of(panel, Showing(blind=is_blind(request), texts_of=()))
    return changed(request, panel, [seat.key for seat in seats.all if f"{seat.key}:{seat.status}" not in held])


def show_text(site: ModelAdmin, request: HttpRequest, *, panel: Panel, key: str, name: str) -> HttpResponse:
    """A text as it was written, all of it, as plain text."""
    seat = seats_of(panel, Showing(blind=is_blind(request), texts_of=())).keyed(key)
    if key == REQUEST and name == REQUEST:
        text = whole_request(panel)
    elif seat and name in TEXTS and not seat.is_held_back:
        text = whole_text(seat.call, name)
    else:
        raise Http404
    # A key names nobody where names are hidden.
    disposition = f'attachment; filename="{panel.panel_id}-{key}-{name}.txt"'
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers={"Content-Disposition": disposition})


def render_panel(
    site: ModelAdmin,
    request: HttpRequest,
    panel: Panel,
    *,
    key: str = "",
    forms: Mapping[str, VerdictForm] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The whole panel; `key` is for those who render one seat or all alike."""
    seats = _seats(request, panel, forms)
    context = _frame(site, request, panel.panel_id) | context_of(request, panel, seats)
    return TemplateResponse(request, "evidence/panel.html", context, status=status)


def render_seat(
    site: ModelAdmin,
    request: HttpRequest,
    panel: Panel,
    *,
    key: str,
    forms: Mapping[str, VerdictForm] | None = None,
    status: int = 200,
) -> HttpResponse:
    seats = _seats(request, panel, forms, texts_of=(key,), alone=True)
    seat = seats.keyed(key)
    if seat is None:
        raise Http404
    title = f"{seat.label} · {panel.panel_id}"
    context = _frame(site, request, title) | context_of(request, panel, seats) | {"seat": seat, "is_alone": True}
    return TemplateResponse(request, "evidence/seat_page.html", context, status=status)


def changed(
    request: HttpRequest,
    panel: Panel,
    keys: Collection[str],
    *,
    said: str = "",
    forms: Mapping[str, VerdictForm] | None = None,
) -> HttpResponse:
    """What of a panel's page is to be put in place of what is there: its summary, and the seats with these keys."""
    alone = request.POST.get("back") == "seat"
    seats = _seats(request, panel, forms, texts_of=keys, alone=alone)
    context = context_of(request, panel, seats) | {"keys": keys, "said": said, "is_alone": alone}
    return HttpResponse(render_to_string("evidence/panel_changed.html", context, request))


def context_of(request: HttpRequest, panel: Panel, seats: Seats) -> dict[str, Any]:
    length = panel.request_length  # type: ignore[attr-defined]
    return {
        "panel": panel,
        "seats": seats,
        "counts": verdict_counts(panel),
        "seconds": panel.seconds,
        "is_running": any(seat.status == Call.Status.RUNNING for seat in seats.all),
        "request_text": panel.request_head[:FOLDED_CHARACTERS],  # type: ignore[attr-defined]
        "request_is_cut": length > FOLDED_CHARACTERS,
        "request_length": length,
        "may_open_models": request.user.has_perm("collections_app.view_languagemodel"),
        "query": "?blind=1" if seats.is_blind else "",
    }


def _frame(site: ModelAdmin, request: HttpRequest, title: str) -> dict[str, Any]:
    return {**site.admin_site.each_context(request), "title": title, "opts": site.opts, "is_fullwidth": "1"}


def _seats(
    request: HttpRequest,
    panel: Panel,
    forms: Mapping[str, VerdictForm] | None,
    *,
    texts_of: Collection[str] | None = None,
    alone: bool = False,
) -> Seats:
    may_judge = request.user.has_perm("evidence.add_verdict")
    showing = Showing(blind=is_blind(request), may_judge=may_judge, texts_of=texts_of, alone=alone, forms=forms or {})
    return seats_of(panel, showing)
