"""A panel from request to reply: who sits, asked all at once, each answer as it comes.

The process owns a panel, never the request: once its seats are submitted they are answered and recorded, whether or not
anybody still waits.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from collections_app.models import Collection
from collections_app.selectors import all_collections, collection_asked_for, current_limits, may_explore, members_of
from evidence.selectors import staleness
from gateway.chat import ChatRequest
from gateway.errors import EveryoneRateLimited, NobodyAnswered
from gateway.panel import markdown
from gateway.panel.naming import not_found, read_model_name
from gateway.panel.nominated import nominated_models
from gateway.panel.record import seat_jobs, write_down
from gateway.panel.seating import Seat, Table, nobody_seated, seat_explorers, seat_members, seat_nominated
from gateway.panel.shape import ChosenShape, choose_shape
from gateway.panel.size import estimate, estimate_text, refuse_if_too_large
from gateway.reply import PanelReply, SeatAnswer, SkippedSeat
from gateway.workers import worker_pool
from gateway.workers.ledger import ledger
from keys.services import Caller

logger = logging.getLogger(__name__)


async def open_panel(chat: ChatRequest, caller: Caller, base_url: str) -> "PanelRun":
    """Seat a panel and ask its seats. Raises a Refusal when it cannot be.

    `base_url` is the server as the caller reached it.
    """
    return await asyncio.wrap_future(ledger().run(partial(_open, chat, caller, base_url)))


def _open(chat: ChatRequest, caller: Caller, base_url: str) -> "PanelRun":
    collection = _collection(chat)
    limits = current_limits()
    nominated = nominated_models(chat.bench.nominated)
    table = Table(images=chat.images, tokens=estimate(chat.messages))
    seat_members(table, members_of(collection), nominated)
    seat_nominated(table, nominated, limits.explorers_beside)
    refuse_if_too_large(table.tokens, table.members)
    shape = choose_shape(collection, table.images)
    explorer_seats = limits.explorers_beside(len(table.members))
    if explorer_seats > len(table.nominated):
        candidates = may_explore(shape.roles)
        seat_explorers(table, candidates, staleness(shape.name, [model.pk for model in candidates]), explorer_seats)
    if not table.seated:
        raise nobody_seated(table)
    seats = table.seats()
    pool = worker_pool()
    pool.admit(len(seats))
    panel = write_down(chat, caller, collection, shape, table)
    return PanelRun(
        panel_id=panel.panel_id,
        collection=collection.asked_as,
        chat=chat,
        shape=shape,
        seats=seats,
        skipped=tuple(table.skipped),
        prompt_tokens=table.tokens,
        base_url=base_url,
        started=time.time(),
        answers=tuple(pool.submit(job) for job in seat_jobs(panel.panel_id, seats, chat)),
    )


def _collection(chat: ChatRequest) -> Collection:
    asked = read_model_name(chat.model)
    collection = collection_asked_for(asked.name) if asked else None
    if collection is None:
        raise not_found(chat.model, all_collections())
    return collection


@dataclass(frozen=True, kw_only=True)
class PanelRun:
    """A panel whose seats have been asked."""

    panel_id: str
    collection: str
    chat: ChatRequest
    shape: ChosenShape
    seats: Sequence[Seat]
    skipped: tuple[SkippedSeat, ...]
    prompt_tokens: int
    base_url: str
    started: float
    answers: tuple[Future[SeatAnswer], ...]

    @property
    def verdict_url(self) -> str:
        return f"{self.base_url}/bench/verdict"

    async def result(self) -> PanelReply:
        """Wait for every seat. Raises NobodyAnswered when none has an answer."""
        # wait, not gather: gather cancels seats still queued when the caller hangs up, and a seated panel is always answered.
        await asyncio.wait([asyncio.wrap_future(answer) for answer in self.answers])
        return self.reply()

    async def pieces(self) -> AsyncIterator[str]:
        """Yield the reply's Markdown: the heading, each section the moment its seat ends, the closing."""
        yield self._heading()
        waiting = {asyncio.wrap_future(answer): index for index, answer in enumerate(self.answers)}
        while waiting:
            ended, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for answer in sorted(ended, key=waiting.__getitem__):
                yield markdown.section(self._answer(waiting.pop(answer)))
        yield markdown.closing(self.verdict_url)

    def reply(self) -> PanelReply:
        """The whole reply, in seat order, once every seat has ended. Raises NobodyAnswered when none has an answer."""
        answers = tuple(self._answer(index) for index in range(len(self.seats)))
        content = self._heading() + "".join(map(markdown.section, answers)) + markdown.closing(self.verdict_url)
        reply = PanelReply(
            panel=self.panel_id,
            model=self.chat.model,
            collection=self.collection,
            shape=self.shape.name,
            shape_by=self.shape.by,
            reply="all",
            seats=answers,
            skipped=self.skipped,
            ignored=self.chat.ignored,
            content=content,
            created=int(self.started),
            seconds=time.time() - self.started,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=estimate_text(content),
            verdict_url=self.verdict_url,
            field=self.chat.bench.field,
        )
        if not reply.answered:
            raise _nobody_answered(reply)
        return reply

    def _heading(self) -> str:
        return markdown.heading(
            f"{self.collection} · {self.panel_id}",
            seats=self.seats,
            skipped=self.skipped,
            shape=f"{self.shape.name} ({self.shape.by})",
        )

    def _answer(self, index: int) -> SeatAnswer:
        future = self.answers[index]
        error = future.exception()
        if error is None:
            return future.result()
        seat = self.seats[index]
        call = f"{self.panel_id}.{seat.name}"
        logger.error("The answer of %s could not be written down", call, exc_info=error)
        return SeatAnswer(
            call=call,
            alias=seat.model.alias,
            nominated=seat.nominated,
            status="error",
            error_kind="interrupted",
            error="its answer could not be written to the call log; the gateway's log says why",
        )


def _nobody_answered(reply: PanelReply) -> NobodyAnswered:
    """The refusal of a panel in which every seat failed or came back empty; 429 when every seat was rate limited."""
    reasons = "; ".join(f"{seat.alias}: {seat.error or seat.status}" for seat in reply.seats)
    message = f"No seat of panel {reply.panel} answered ({reasons})."
    bench = reply.bench() if reply.field else None
    if all(seat.error_kind == "rate_limited" for seat in reply.seats):
        waits = [seat.retry_after for seat in reply.seats if seat.retry_after is not None]
        return EveryoneRateLimited(message, wait=min(waits, default=None), bench=bench)
    return NobodyAnswered(message, code="no_seat_answered", bench=bench)
