"""POST /bench/verdict: a caller judges one seat's answer.

Body and caller are as the edge found them; what a refusal looks like is the site's exception handler's.
"""

from typing import Any, Protocol

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evidence.negotiation import JsonAlways
from evidence.serializers import read_verdict
from evidence.services import record_verdict
from keys.services import Caller


class Asked(Protocol):
    """What the edge has learned of a request; gateway's Asked is one."""

    @property
    def caller(self) -> Caller: ...
    @property
    def payload(self) -> Any: ...


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
