"""A panel read back from the call log: what it said so far, for callers who come back later, and what it says as it goes on."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any, cast

from django.db import DatabaseError

from evidence.models import Panel
from evidence.selectors import panel_with_calls
from evidence.selectors.progress import Progress
from gateway.chat import ReplyMode
from gateway.errors import NotAllowed, NotFound
from gateway.panel import markdown
from gateway.panel.elsewhere.looks import LOOK_SECONDS, panels_elsewhere
from gateway.panel.merge import why_not_merged
from gateway.panel.request import Request
from gateway.panel.size import estimate_text
from gateway.reply import AskedPanel, PanelReply, SeatAnswer, SeatKind, SkippedSeat
from gateway.workers.ended import answer_in
from gateway.workers.ledger import ledger
from keys.services import LOCAL, Caller


class RecordedRun:
    """A panel that this process does not run: ended, or another process's."""

    def __init__(self, request: Request, panel_id: str) -> None:
        self._request = request
        self.panel_id = panel_id

    async def pieces(self) -> AsyncIterator[str]:
        """Yield the reply's Markdown: in one piece what has ended, else section by section, as its seats end."""
        reply = await self._read()
        if reply.panel.reply == "merged" or status_of(reply) != "running":
            yield (await self._ended(reply)).content
            return
        yield markdown.heading(reply.panel)
        told = 0
        while True:
            for seat in ended_after(reply, told):
                told = seat.ended_as or told
                yield await asyncio.to_thread(markdown.section, reply.panel, seat)
            if status_of(reply) != "running":
                break
            reply = await self._next(reply)
        yield markdown.closing(reply.panel)

    async def result(self) -> PanelReply:
        """Wait for the reply. Raises NobodyAnswered when no seat has an answer."""
        return (await self._ended(await self._read())).or_refusal()

    async def _ended(self, reply: PanelReply) -> PanelReply:
        while status_of(reply) == "running":
            reply = await self._next(reply)
        return await asyncio.to_thread(_told, reply)

    async def _next(self, reply: PanelReply) -> PanelReply:
        await panels_elsewhere().changed(self.panel_id, progress_in(reply))
        try:
            return await self._read()
        except DatabaseError:
            # It is away; the panel is waited for all the same.
            await asyncio.sleep(LOOK_SECONDS)
            return reply

    async def _read(self) -> PanelReply:
        request = self._request
        read = partial(recorded_reply, request.caller, self.panel_id, request.base_url)
        reply = await asyncio.wrap_future(ledger().run(read))
        return replace(reply, panel=replace(reply.panel, model=request.chat.model, field=request.field))


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
    called = [answer_in(call, f"{panel.panel_id}.{call.seat_name}") for call in panel.calls.all()]
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


def ended_after(reply: PanelReply, told: int) -> list[SeatAnswer]:
    """The calls that ended after the one of this number, in the order in which they did."""
    ended = [(seat.ended_as, seat) for seat in reply.called if seat.ended_as is not None and seat.ended_as > told]
    return [seat for _, seat in sorted(ended, key=lambda numbered: numbered[0])]


def progress_in(reply: PanelReply) -> Progress:
    """How far a panel is, as it was read."""
    running = sum(seat.status == "running" for seat in reply.called)
    # Of a merger's failure the reply has a note too, which is no row's.
    return Progress(len(reply.called) - running, running, noted=bool(reply.note) and reply.merger is None)


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
