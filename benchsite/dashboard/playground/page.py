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
from rest_framework.exceptions import APIException

from benchsite.dashboard.playground.asking import FORMAT, Wanted, ask, wanted_again, wanted_in
from benchsite.dashboard.playground.choices import choices
from benchsite.dashboard.playground.fitting import fit
from benchsite.dashboard.playground.judging import judge
from benchsite.dashboard.playground.pictures import ACCEPTED, image_in, largest_image
from benchsite.dashboard.playground.seats import PanelShown, shown
from benchsite.dashboard.playground.snippets import Asked, snippets
from benchsite.dashboard.playground.waiting import may_wait
from evidence.selectors import panel_with_calls
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
    return _page(request, Wanted(collection=request.GET.get("collection", ""), blind="blind" in request.GET))


@for_staff
@require_GET
def panel_page(request: HttpRequest, panel_id: str) -> HttpResponse:
    return _panel_page(request, _shown(request, panel_id))


@for_staff
@require_GET
def seats(request: HttpRequest, panel_id: str) -> HttpResponse:
    """The part of a panel's page that changes while it runs."""
    # What the page has already is left out: rendering a long answer takes a while.
    have = frozenset(request.GET.getlist("have"))
    context = {"shown": _shown(request, panel_id), "have": have, "now": timezone.now()}
    return TemplateResponse(request, "playground/seats.html", context)


@for_staff
@require_POST
def verdict(request: HttpRequest, panel_id: str, key: str) -> HttpResponse:
    """Judge one answer and lead back to it; or say why that cannot be, on the same page."""
    judged = _shown(request, panel_id)
    try:
        judge(judged, key, request.POST, user=_user(request))
    except APIException as refusal:
        return _panel_page(request, judged, unjudged=refusal)
    return redirect(f"{_address(panel_id, blind=judged.is_blind)}#seat-{key}")


@for_staff
@require_POST
def size(request: HttpRequest) -> HttpResponse:
    """What is being written, measured. Sent in a body, for a prompt has no place in an address."""
    wanted = wanted_in(request.POST)
    found = fit(wanted, images=1 if request.POST.get("images") else 0)
    return TemplateResponse(request, "playground/size.html", {"fit": found, "wanted": wanted})


def _ask(request: HttpRequest) -> HttpResponse:
    """Open a panel and lead to it; or say why not, beside the form as it was."""
    wanted = wanted_in(request.POST)
    try:
        _refuse_cut_body(request)
        image = image_in(request.FILES.get("image"))
        panel_id = async_to_sync(ask)(wanted, image, user=_user(request), base_url=_base_url(request))
    except Exception as error:  # noqa: BLE001
        # The page's boundary: whatever went wrong, what was typed is still there.
        return _page(request, wanted, refusal=as_refusal(error), had_image="image" in request.FILES)
    return redirect(_address(panel_id, blind=wanted.blind))


def _refuse_cut_body(request: HttpRequest) -> None:
    """A body beyond the cap comes cut (benchsite/http), and with it the image."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > conf.max_body_bytes:
        raise TooLarge(f"Prompt and image together are too large: {conf.max_body_bytes:,} bytes is the most.")


def _panel_page(request: HttpRequest, panel: PanelShown, **more: Any) -> HttpResponse:
    wanted, has_image = wanted_again(panel.panel, blind=panel.is_blind)
    told = snippets(_as_called(request, wanted, has_image))
    if len(wanted.prompt) > LONGEST_REPEATED:
        wanted, more = replace(wanted, prompt=""), {**more, "not_repeated": len(wanted.prompt)}
    return _page(request, wanted, shown=panel, snippets=told, **more)


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
        "now": timezone.now(),
        "have": (),
        **more,
    }
    return TemplateResponse(request, "playground/page.html", context)


def _shown(request: HttpRequest, panel_id: str) -> PanelShown:
    """A panel that was asked here. Raises Http404 for any other: the log has a page for it."""
    panel = panel_with_calls(panel_id)
    if panel is None or panel.format != FORMAT:
        raise Http404
    return shown(panel, blind="blind" in request.GET, waits=may_wait(panel.calls.all(), timezone.now()))


def _user(request: HttpRequest) -> str:
    return cast(User, request.user).get_username()


def _address(panel_id: str, *, blind: bool) -> str:
    return reverse("playground:panel", args=[panel_id]) + ("?blind" if blind else "")


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
    path("<str:panel_id>/seats/", seats, name="seats"),
    path("<str:panel_id>/seats/<str:key>/verdict/", verdict, name="verdict"),
]
