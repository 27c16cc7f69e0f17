"""POST /bench/verdict: a caller judges one seat's answer. GET /bench/verdicts/owed: which of its answers wait for that.

Body and caller are as the edge found them; what a refusal looks like is the site's exception handler's.
"""

from typing import Any, Protocol

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evidence.negotiation import JsonAlways
from evidence.selectors.waiting import owed_page
from evidence.serializers import read_owed_query, read_verdict
from evidence.services import record_verdict
from keys.services import Caller


class Asked(Protocol):
    """What the edge has learned of a request; gateway's Asked is one."""

    @property
    def caller(self) -> Caller: ...
    @property
    def payload(self) -> Any: ...
    @property
    def base_url(self) -> str: ...


def asked_of(request: Request) -> Asked:
    """Return what the edge put into the request's scope. Raises KeyError for a request that never met it."""
    asked: Asked = request._request.scope["bench"]  # type: ignore[attr-defined]
    return asked


class VerdictView(APIView):
    content_negotiation_class = JsonAlways
    # No OPTIONS of its own: browsers ask the edge.
    metadata_class = None

    def post(self, request: Request) -> Response:
        asked = asked_of(request)
        # Not request.data: the body is parsed already, and nesting that the edge admits is too deep for DRF's parser.
        fields = read_verdict(asked.payload)
        call_id = fields.pop("call")
        _, written = record_verdict(call_id=call_id, given_by=asked.caller.name, **fields)
        return Response({"ok": True, "written": written, "call": call_id})


class OwedView(APIView):
    content_negotiation_class = JsonAlways
    metadata_class = None

    def get(self, request: Request) -> Response:
        asked = asked_of(request)
        limit, panel_id = read_owed_query(request.query_params)
        page = owed_page(asked.caller.name, limit=limit, panel_id=panel_id)
        verdict, read = f"{asked.base_url}/bench/verdict", f"{asked.base_url}/bench/panels"
        return Response(
            {
                "owed": [call.as_json() for call in page.calls],
                "more": page.more,
                "verdict": f'POST {verdict} {{"call", "useful": true|false, "note": "", "real": [], "false": []}}',
                "read": f"GET {read}/<panel>",
            }
        )
