"""Why a verdict, or a question for those owed, is turned away: each a DRF error, so that whoever serves it knows its status
and its words.

MalformedVerdict   400   a field is missing, unknown, of the wrong type or too long; names the field
MalformedQuery     400   of the question for verdicts owed; names the parameter
StillRunning       400   nothing to judge yet
NotYours           403   another caller asked for it
UnknownCall        404
UnknownPanel       404
"""

from rest_framework.exceptions import APIException, NotFound, PermissionDenied


class PanelIdTaken(Exception):  # noqa: N818 (says what is so, as refusals do)
    """A new panel was given the id of another. No caller is told: it is given another id."""


class MalformedVerdict(APIException):
    status_code = 400


class MalformedQuery(APIException):
    status_code = 400


class StillRunning(APIException):
    """400 and not 409: SDKs send a 409 again at once, and the seat may take minutes."""

    status_code = 400

    def __init__(self, call_id: str) -> None:
        super().__init__(f"call {call_id} is still running: there is nothing to judge yet. Send the verdict when it has ended.")


class NotYours(PermissionDenied):
    def __init__(self, what: str) -> None:
        super().__init__(f"{what} was asked for by another caller: only that caller may judge it.")


class UnknownCall(NotFound):
    def __init__(self, call_id: str) -> None:
        super().__init__(f"no call {call_id!r}. A call id is a panel's id, a dot and a seat: p20260102-150405-7f3a.member1.")


class UnknownPanel(NotFound):
    def __init__(self, panel_id: str) -> None:
        super().__init__(f"no panel {panel_id[:40]!r} in the call log. A panel's id is like p20260102-150405-7f3a.")
