"""/verdict/<link>/: a verdict from a chat window. To look asks whether to give it; only to confirm gives it.

Whoever holds the link may: no key, no login, no cookie. It shows nothing of a panel but the names that the link came with.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import APIException

from evidence.links import LinkRefused, LinkUsed, VerdictLink, read_link
from evidence.models import Call
from evidence.selectors import call_to_judge
from evidence.services import record_linked_verdict


# The link is the right to judge; a form of another site that has it needs no help of ours, and a chat window keeps no cookies.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def verdict_link(request: HttpRequest, token: str) -> HttpResponse:
    try:
        link = read_link(token)
        call = _judgeable(link)
        if request.method == "POST":
            record_linked_verdict(link, call)
            return _page(request, "done", link, call=call)
    except APIException as refused:
        return _page(request, "refused", why=str(refused.detail), status=refused.status_code)
    return _page(request, "confirm", link, call=call)


def _judgeable(link: VerdictLink) -> Call:
    call = call_to_judge(link.call_id)
    if call is None:
        raise LinkRefused("That answer is not in the call log any more.")
    # Whatever the link was used for, or said in another way: the same again says nothing new.
    if any(verdict.useful is link.useful and verdict.given_by == call.panel.asked_by for verdict in call.verdicts.all()):
        raise LinkUsed(f"This link has been used: {call.alias}'s answer was judged {link.word}.")
    # Nor does the word that counts already, whoever gave it: a bare one in its place would lose its note and its claims.
    if call.verdict is not None and call.verdict.useful is link.useful:
        raise LinkUsed(f"Nothing to save: {call.alias}'s answer was judged {link.word} already.")
    return call


def _page(
    request: HttpRequest,
    what: str,
    link: VerdictLink | None = None,
    *,
    call: Call | None = None,
    why: str = "",
    status: int = 200,
) -> HttpResponse:
    return render(request, "evidence/link.html", {"what": what, "link": link, "call": call, "why": why}, status=status)
