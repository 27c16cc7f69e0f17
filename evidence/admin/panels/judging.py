"""POST of a verdict from a panel's page: written under the name of who is logged in, who may judge every call."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from rest_framework.exceptions import APIException
from unfold.admin import ModelAdmin

from evidence.admin.panels.blind import is_blind
from evidence.admin.panels.page import changed, render_panel, render_seat
from evidence.admin.panels.seats import Seat, Seats, Showing, seats_of
from evidence.admin.panels.verdict_form import VerdictForm
from evidence.models import Call, Panel
from evidence.selectors import panel_to_read
from evidence.serializers import read_verdict
from evidence.services import record_verdict

SAME = "The same verdict was there already: nothing was written."
NEITHER = "Say whether it was useful."


def judge(site: ModelAdmin, request: HttpRequest, *, panel: Panel, key: str) -> HttpResponse:
    showing = Showing(blind=is_blind(request), texts_of=())
    before = seats_of(panel, showing)
    seat = before.keyed(key)
    if seat is None or seat.is_held_back:
        raise Http404
    form = VerdictForm.sent(request.POST)
    said, error = _record(request, panel, seat, form)
    panel = panel_to_read(panel.pk) or panel
    if "X-Bench-Fragment" in request.headers:
        forms = {key: form.refused(error)} if error else {}
        wanted = [key, *_seats_without_forms(panel, request), *_let_out(before, seats_of(panel, showing))]
        return changed(request, panel, wanted, said=error or said, forms=forms)
    alone = request.POST.get("back") == "seat"
    if error:
        render = render_seat if alone else render_panel
        return render(site, request, panel, key=key, forms={key: form.refused(error)}, status=400)
    messages.success(request, said)
    return HttpResponseRedirect(_back(request, panel, key, alone=alone))


def _record(request: HttpRequest, panel: Panel, seat: Seat, form: VerdictForm) -> tuple[str, str]:
    """Write a verdict; returns what to say of it, or why it was not taken."""
    if form.useful is None:
        return "", NEITHER
    try:
        fields = read_verdict(form.payload(f"{panel.panel_id}.{seat.call.seat_name}"))
        name = request.user.get_username()
        _, written = record_verdict(call_id=fields.pop("call"), given_by=name, judges_all=True, **fields)
    except APIException as refused:
        return "", str(refused.detail)
    word = "useful" if form.useful else "not useful"
    return (f"{seat.label} judged {word}." if written else SAME), ""


def _seats_without_forms(panel: Panel, request: HttpRequest) -> list[str]:
    """Failed seats, whose names a last verdict may have shown; nobody is typing there."""
    if not is_blind(request):
        return []
    failed = (Call.Status.EMPTY, Call.Status.ERROR)
    return [seat.key for seat in seats_of(panel, Showing(blind=True, texts_of=())).all if seat.status in failed]


def _let_out(before: Seats, after: Seats) -> list[str]:
    """Seats that were held back until this verdict."""
    held = {seat.key for seat in before.all if seat.is_held_back}
    return [seat.key for seat in after.all if seat.key in held and not seat.is_held_back]


def _back(request: HttpRequest, panel: Panel, key: str, *, alone: bool) -> str:
    blind = "?blind=1" if is_blind(request) else ""
    if alone:
        return reverse("admin:evidence_panel_seat", args=(panel.pk, key)) + blind
    return reverse("admin:evidence_panel_change", args=(panel.pk,)) + f"{blind}#{key}"
