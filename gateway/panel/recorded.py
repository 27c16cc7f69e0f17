"""A panel read back from the call log: the `bench` object so far, for callers who come back later."""

from typing import Any, cast

from evidence.models import Call, Panel
from evidence.selectors import panel_with_calls
from gateway.errors import NotFound
from gateway.reply import PanelReply, SeatAnswer, SeatKind, SkippedSeat, Status


def recorded_panel(panel_id: str, base_url: str) -> dict[str, Any]:
    """Return a panel's `bench` object as far as it is, with its status. Raises NotFound."""
    panel = panel_with_calls(panel_id)
    if panel is None:
        raise NotFound(f"There is no panel {panel_id[:40]!r} in the call log.")
    seats = tuple(_seat(panel, call) for call in panel.calls.all())
    return {"status": _status(seats), **_so_far(panel, seats, base_url).bench()}


def _so_far(panel: Panel, seats: tuple[SeatAnswer, ...], base_url: str) -> PanelReply:
    return PanelReply(
        panel=panel.panel_id,
        model=panel.collection_name,
        collection=panel.collection_name,
        shape=panel.shape,
        shape_by=panel.shape_by,
        reply=panel.reply,
        seats=seats,
        skipped=tuple(SkippedSeat(cast(SeatKind, seat["seat"]), seat["alias"], seat["why"]) for seat in panel.skipped),
        ignored=tuple(panel.ignored),
        content="",
        created=int(panel.asked_at.timestamp()),
        seconds=max((seat.seconds for seat in seats), default=0.0),
        prompt_tokens=panel.prompt_tokens,
        completion_tokens=0,
        verdict_url=f"{base_url}/bench/verdict",
    )


def _seat(panel: Panel, call: Call) -> SeatAnswer:
    return SeatAnswer(
        call=f"{panel.panel_id}.{call.seat_name}",
        alias=call.alias,
        status=cast(Status, call.status),
        nominated=call.nominated,
        answer=call.answer,
        error=call.error,
        error_kind=call.error_kind,
        served_model=call.served_model,
        seconds=call.seconds or 0.0,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
    )


def _status(seats: tuple[SeatAnswer, ...]) -> str:
    if any(seat.status == "running" for seat in seats):
        return "running"
    return "interrupted" if any(seat.error_kind == "interrupted" for seat in seats) else "done"
