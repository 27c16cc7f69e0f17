"""The playground's pages: the form, a panel as its seats end, and the size of what is being written.

The gateway's routes are for keys and never see a session: a panel is opened in here, by whoever may write one down.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from asgiref.sync import async_to_sync
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchsite.dashboard.playground.asking import FORMAT, Wanted, ask, wanted_again, wanted_in
from benchsite.dashboard.playground.choices import choices
from benchsite.dashboard.playground.fitting import fit
from benchsite.dashboard.playground.pictures import ACCEPTED, image_in, largest_image
from benchsite.dashboard.playground.snippets import Asked, snippets
from benchsite.dashboard.playground.waiting import beside
from evidence.admin.panels.blind import is_blind
from evidence.admin.panels.page import context_of
from evidence.admin.panels.seats import Showing, seats_of
from evidence.models import Panel
from evidence.selectors import panel_to_read, pk_of_panel
from gateway.conf import conf
from gateway.errors import TooLarge, as_refusal

app_name = "playground"
# A longer prompt is not put into the form of the page that shows its panel: the log has it.
LONGEST_REPEATED = 200_000
View = Callable[..., HttpResponse]


def for_staff(view: View) -> View:
    """Let in who may see the dashboard, read panels and have them written down: a panel costs what its seats cost."""

    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.has_perms(["evidence.view_panel", "evidence.add_panel"]):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return cast(View, admin.site.admin_view(guarded))


@for_staff
@require_http_methods(["GET", "HEAD", "POST"])
def playground(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _ask(request)
    return _page(request, Wanted(collection=request.GET.get("collection", ""), blind=is_blind(request)))


@for_staff
@require_GET
def panel_page(request: HttpRequest, panel_id: str) -> HttpResponse:
    return _panel_page(request, _panel(panel_id))


@for_staff
@require_GET
def beside_seats(request: HttpRequest, panel_id: str) -> HttpResponse:
    """What is said beside the seats, which are the log's own to show and to keep true."""
    told = beside(_panel(panel_id), timezone.now(), blind=is_blind(request))
    return TemplateResponse(request, "playground/beside.html", {"beside": told})


@for_staff
@require_POST
def size(request: HttpRequest) -> HttpResponse:
    """What is being written, measured. Sent in a body, for a prompt has no place in an address."""
    wanted = wanted_in(request.POST)
    found = fit(wanted, images=1 if request.POST.get("images") else 0)
    return TemplateResponse(request, "playground/size.html", {"fit": found, "wanted": wanted})


def _ask(request: HttpRequest) -> HttpResponse:
    """Open a panel and lead to it; or say why not, beside the form as it was. A script is told the address, or the reason."""
    wanted = wanted_in(request.POST)
    by_script = "X-Bench-Fragment" in request.headers
    try:
        _refuse_cut_body(request)
        image = image_in(request.FILES.get("image"))
        user = cast(User, request.user).get_username()
        panel_id = async_to_sync(ask)(wanted, image, user=user, base_url=_base_url(request))
    except Exception as error:  # noqa: BLE001
        # The page's boundary: whatever went wrong, what was typed is still there.
        told = {"refusal": as_refusal(error), "had_image": "image" in request.FILES and not by_script}
        return TemplateResponse(request, "playground/refusal.html", told) if by_script else _page(request, wanted, **told)
    address = reverse("playground:panel", args=[panel_id]) + ("?blind=1" if wanted.blind else "") + "#play-panel-title"
    return HttpResponse(headers={"X-Bench-Panel": address}) if by_script else redirect(address)


def _refuse_cut_body(request: HttpRequest) -> None:
    """A body beyond the cap comes cut (benchsite/http), and with it the image."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > conf.max_body_bytes:
        raise TooLarge(f"Prompt and image together are too large: {conf.max_body_bytes:,} bytes is the most.")


def _panel_page(request: HttpRequest, panel: Panel) -> HttpResponse:
    blind = is_blind(request)
    wanted, has_image = wanted_again(panel, blind=blind)
    seats = seats_of(panel, Showing(blind=blind, may_judge=request.user.has_perm("evidence.add_verdict")))
    told = {
        **context_of(request, panel, seats),
        "beside": beside(panel, timezone.now(), blind=blind),
        "snippets": snippets(_as_called(request, wanted, has_image)),
    }
    if len(wanted.prompt) > LONGEST_REPEATED:
        wanted, told = replace(wanted, prompt=""), {**told, "not_repeated": len(wanted.prompt)}
    return _page(request, wanted, **told)


def _page(request: HttpRequest, wanted: Wanted, **more: Any) -> HttpResponse:
    asking = choices(wanted)
    context = {
        **admin.site.each_context(request),
        "title": "Playground",
        "is_fullwidth": "1",
        "wanted": wanted,
        "choices": asking,
        "accepted": ACCEPTED,
        "largest_image": largest_image(),
        **more,
    }
    return TemplateResponse(request, "playground/page.html", context)


def _panel(panel_id: str) -> Panel:
    """A panel that was asked here. Raises Http404 for any other: the log has a page for it."""
    pk = pk_of_panel(panel_id)
    panel = panel_to_read(pk) if pk else None
    if panel is None or panel.format != FORMAT:
        raise Http404
    return panel


def _base_url(request: HttpRequest) -> str:
    """The server as others reach it, or as this browser did."""
    return conf.public_url or f"{request.scheme}://{request.get_host()}"


def _as_called(request: HttpRequest, wanted: Wanted, has_image: bool) -> Asked:
    return Asked(
        base_url=_base_url(request),
        model=f"{wanted.collection}:{wanted.reply}" if wanted.reply else wanted.collection,
        prompt=wanted.prompt,
        system=wanted.system,
        nominated=wanted.nominated,
        has_image=has_image,
    )


urlpatterns = [
    path("", playground, name="page"),
    path("size/", size, name="size"),
    path("<str:panel_id>/", panel_page, name="panel"),
    path("<str:panel_id>/beside/", beside_seats, name="beside"),
]
