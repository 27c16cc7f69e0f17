"""Panels and their replies as plain values, for tests that seat no panel: each has something to say, and takes other fields."""

from typing import Any

from gateway.reply import AskedPanel, PanelReply, SeatAnswer


def asked_panel(**fields: Any) -> AskedPanel:
    plain: dict[str, Any] = {
        "id": "p1",
        "model": "bench/core",
        "collection": "bench/core",
        "shape": "general",
        "shape_by": "set on the collection",
        "reply": "all",
        "members": 1,
        "explorers": 0,
        "skipped": (),
        "ignored": (),
        "notice": "",
        "prompt_tokens": 2,
        "created": 1.0,
        "verdict_url": "http://127.0.0.1:8123/bench/verdict",
    }
    return AskedPanel(**plain | fields)


def seat_answer(name: str = "member1", **fields: Any) -> SeatAnswer:
    plain: dict[str, Any] = {"call": f"p1.{name}", "alias": "fast", "status": "ok", "answer": "Yes.", "seconds": 1.0}
    return SeatAnswer(**plain | fields)


def panel_reply(
    *seats: SeatAnswer,
    merger: SeatAnswer | None = None,
    content: str = "# bench/core",
    seconds: float = 1.0,
    completion_tokens: int = 3,
    **panel: Any,
) -> PanelReply:
    """A reply of these seats, or of one; further fields are the panel's."""
    return PanelReply(
        panel=asked_panel(**panel),
        seats=seats or (seat_answer(),),
        content=content,
        seconds=seconds,
        completion_tokens=completion_tokens,
        merger=merger,
    )
