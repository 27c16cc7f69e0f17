"""Answers that came after others had ended their calls: kept beside what was told of those, of which they change nothing."""

from collections.abc import Mapping
from typing import Any

from evidence.models import Call

# Beside the answer, which goes where a failed call keeps what had come.
KEPT = ("reasoning", "finish_reason", "served_model", "first_token_seconds", "input_tokens", "output_tokens", "upstream_status")


def keep_late(endings: Mapping[str, Mapping[str, Any]]) -> dict[str, Call]:
    """Return the calls that these endings came too late for, by call id, as they stand: what their callers are to be told.

    What came for an interrupted call is written down as its partial answer: its readers have been told the end, and the
    number of it. A call that the log has forgotten is not among those returned.
    """
    standing = {}
    for call_id, ending in endings.items():
        panel_id, _, seat_name = call_id.rpartition(".")
        call = Call.objects.filter(panel__panel_id=panel_id, seat_name=seat_name).first()
        if call is None:
            continue
        standing[call_id] = call
        if came := ending["answer"] or ending["partial"]:
            interrupted = Call.objects.filter(pk=call.pk, error_kind="interrupted", partial="")
            interrupted.update(partial=came, **{name: ending[name] for name in KEPT})
    return standing
