"""A panel read back from the call log: what it said so far, for callers who come back later."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any, cast

from evidence.models import Call, Panel
from evidence.selectors import panel_with_calls
from gateway.chat import ReplyMode
from gateway.errors import NotAllowed, NotFound
from gateway.panel import markdown
from gateway.panel.merge import why_not_merged
from gateway.panel.request import Request
from gateway.panel.size import estimate_text
from gateway.reply import AskedPanel, PanelReply, SeatAnswer, SeatKind, SkippedSeat, Status
from gateway.workers.ledger import ledger
from keys.services import LOCAL, Caller

# How often a panel is looked at that another process runs.
LOOK_SECONDS = 0.5


class RecordedRun:
    """A panel that this process does not run: ended, or another process's."""

    def __init__(self, request: Request, panel_id: str) -> None:
        self._request = request
        self.panel_id = panel_id

    async def pieces(self) -> AsyncIterator[str]:
        """Yield the reply's Markdown, in one piece."""
        yield (await self._ended()).content

    async def result(self) -> PanelReply:
        """Wait for the reply. Raises NobodyAnswered when no seat has an answer."""
        return (await self._ended()).or_refusal()

    async def _ended(self) -> PanelReply:
        request = self._request
        read = partial(recorded_reply, request.caller, self.panel_id, request.base_url)
        while True:
            reply = await asyncio.wrap_future(ledger().run(read))
            if status_of(reply) != "running":
                asked = replace(reply.panel, model=request.chat.model, field=request.field)
                return await asyncio.to_thread(_told, replace(reply, panel=asked))
            await asyncio.sleep(LOOK_SECONDS)


def recorded_panel(caller: Caller, panel_id: str, base_url: str) -> dict[str, Any]:
    """Return a panel's `bench` object as far as it is, with its status. Raises NotFound, NotAllowed."""
    reply = recorded_reply(caller, panel_id, base_url)
    return {"status": status_of(reply), **reply.bench()}


def recorded_reply(caller: Caller, panel_id: str, base_url: str) -> PanelReply:
    """Return a panel as far as it is, to whoever asked for it; its Markdown is not made. Raises NotFound, NotAllowed."""
    panel = panel_with_calls(panel_id)
    if panel is None:
        raise NotFound(f"There is no panel {panel_id[:40]!r} in the call log.")
    if caller != LOCAL and panel.asked_by != caller.name:
        raise NotAllowed(f"Panel {panel.panel_id} was asked for by another caller: only that caller may read it.")
    called = [_seat(panel, call) for call in panel.calls.all()]
    seats = tuple(seat for seat in called if seat.seat != "merger")
    merger = next((seat for seat in called if seat.seat == "merger"), None)
    asked = _asked(panel, seats, base_url)
    note = panel.note or (why_not_merged(seats, merger) if merger and merger.status != "running" else "")
    return PanelReply(
        panel=asked,
        seats=seats,
        content="",
        seconds=max((seat.seconds for seat in called), default=0.0),
        completion_tokens=0,
        merger=merger,
        note=note,
    )


def status_of(reply: PanelReply) -> str:
    """running, done or interrupted."""
    if reply.panel.reply == "merged" and not reply.merger and not reply.note:
        return "running"
    if any(seat.status == "running" for seat in reply.called):
        return "running"
    return "interrupted" if any(seat.error_kind == "interrupted" for seat in reply.called) else "done"


def _told(reply: PanelReply) -> PanelReply:
    """The reply with the Markdown that a caller reads."""
    content = _content(reply)
    return replace(reply, content=content, completion_tokens=estimate_text(content))


def _content(reply: PanelReply) -> str:
    if reply.note:
        return markdown.unmerged(reply.panel, reply.note, reply.seats)
    if reply.merger:
        return reply.merger.answer.strip() + markdown.merged_closing(reply.panel, reply.merger, reply.seats)
    return markdown.every_answer(reply.panel, markdown.sections(reply.panel, reply.seats))


def _asked(panel: Panel, seats: tuple[SeatAnswer, ...], base_url: str) -> AskedPanel:
    return AskedPanel(
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
        links_url=base_url if panel.collection and panel.collection.verdict_links else "",
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
        finish_reason=call.finish_reason,
        served_model=call.served_model,
        seconds=call.seconds or 0.0,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        ended_as=call.ended_as,
    )
