"""A panel read back from the call log: the `bench` object so far, for callers who come back later."""

from typing import Any, cast

from evidence.models import Call, Panel
from evidence.selectors import panel_with_calls
from gateway.chat import ReplyMode
from gateway.errors import NotFound
from gateway.reply import AskedPanel, PanelReply, SeatAnswer, SeatKind, SkippedSeat, Status


def recorded_panel(panel_id: str, base_url: str) -> dict[str, Any]:
    """Return a panel's `bench` object as far as it is, with its status. Raises NotFound."""
    panel = panel_with_calls(panel_id)
    if panel is None:
        raise NotFound(f"There is no panel {panel_id[:40]!r} in the call log.")
    reply = _so_far(panel, base_url)
    called = (*reply.seats, reply.merger) if reply.merger else reply.seats
    return {"status": _status(called), **reply.bench()}


def _so_far(panel: Panel, base_url: str) -> PanelReply:
    called = [_seat(panel, call) for call in panel.calls.all()]
    seats = tuple(seat for seat in called if seat.seat != "merger")
    return PanelReply(
        panel=AskedPanel(
            id=panel.panel_id,
            model=panel.collection_name,
            collection=panel.collection_name,
            shape=panel.shape,
            shape_by=panel.shape_by,
            reply=cast(ReplyMode, panel.reply),
            members=sum(seat.seat == "member" for seat in seats),
            explorers=sum(seat.seat == "explorer" for seat in seats),
            skipped=tuple(SkippedSeat(cast(SeatKind, seat["seat"]), seat["alias"], seat["why"]) for seat in panel.skipped),
            ignored=tuple(panel.ignored),
            notice=panel.notice,
            prompt_tokens=panel.prompt_tokens,
            created=panel.asked_at.timestamp(),
            verdict_url=f"{base_url}/bench/verdict",
        ),
        seats=seats,
        content="",
        seconds=max((seat.seconds for seat in seats), default=0.0),
        completion_tokens=0,
        merger=next((seat for seat in called if seat.seat == "merger"), None),
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
