"""A running panel: its pieces as seats end, and its reply, for whoever watches.

The process owns a panel, never the request: it is followed to its end whether or not anybody still waits.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import cache, partial

from opentelemetry.trace import Span

from evidence.live import announce
from gateway.panel import markdown
from gateway.panel.merge import Merged
from gateway.panel.request import Request
from gateway.panel.seating import Seat
from gateway.panel.size import estimate_text
from gateway.reply import AskedPanel, PanelReply, SeatAnswer
from gateway.telemetry.endings import panel_ended

logger = logging.getLogger(__name__)


# Merges the answers that came; gets the merger's text as it writes.
Merge = Callable[[Sequence[SeatAnswer], Callable[[str], None]], Awaitable[Merged]]


class PanelRun:
    """A panel whose seats have been asked. Belongs to the event loop that follows it."""

    def __init__(
        self,
        panel: AskedPanel,
        request: Request,
        *,
        seats: Sequence[Seat],
        answers: Sequence[Future[SeatAnswer]],
        merge: Merge | None,
        span: Span | None = None,
    ) -> None:
        self.panel = panel
        self.request = request
        self._seats = seats
        self._answers = answers
        self._merge = merge
        self._span = span
        self._pieces = [] if merge else [markdown.heading(panel)]
        self._sections: dict[int, str] = {}
        # How many of its seats have ended.
        self.seats_ended = 0
        self._changed = asyncio.Event()
        self._end = asyncio.Event()
        self._reply: PanelReply | None = None
        self._broken: Exception | None = None
        self._merging: asyncio.Task[Merged] | None = None
        self._interrupted = ""

    @property
    def panel_id(self) -> str:
        return self.panel.id

    async def follow(self) -> None:
        """Gather the seats' answers as they come, merge them if asked to, and close the reply.

        Raises nothing: watchers are told.
        """
        try:
            answers = await self._gather()
            self._reply = await self._merged(answers, self._merge) if self._merge else self._every_answer(answers)
        except Exception as error:
            logger.exception("Panel %s could not be followed to its end", self.panel.id)
            self._broken = error
        finally:
            self._end.set()
        calls = self._reply.called if self._reply else None
        panel_ended(self.panel, self._span, calls, time.time() - self.panel.created)
        self._tell()

    async def pieces(self) -> AsyncIterator[str]:
        """Yield the reply's Markdown from its start: the heading, each section the moment its seat ends, the closing.

        Of a merged reply: the merger's text as it writes.
        """
        seen = 0
        while True:
            while seen < len(self._pieces):
                yield self._pieces[seen]
                seen += 1
            if self.ended:
                return
            await self.next_change.wait()

    @property
    def next_change(self) -> asyncio.Event:
        """What is set when the next thing happens. Take it before you look: what happens meanwhile is not missed."""
        return self._changed

    async def result(self) -> PanelReply:
        """Wait for the reply, in seat order. Raises NobodyAnswered when no seat has an answer."""
        await self._end.wait()
        if self._reply is None:
            raise RuntimeError(f"panel {self.panel.id} could not be followed to its end") from self._broken
        return self._reply.or_refusal()

    def interrupt(self, why: str) -> None:
        """End what still runs as interrupted, so that whoever waits gets what has come."""
        self._interrupted = why
        for index, future in enumerate(self._answers):
            # It may end in its thread at any moment: the first ending counts.
            with suppress(InvalidStateError):
                future.set_result(self._unanswered(index, why))
        if self._merging:
            self._merging.cancel()

    async def _gather(self) -> tuple[SeatAnswer, ...]:
        arrivals, answers = Arrivals(self._answers), dict[int, SeatAnswer]()
        while len(answers) < len(self._answers):
            come = {index: self._answer(index) for index in await arrivals.some()}
            answers |= come
            self.seats_ended = len(answers)
            if self._merge is None:
                self._sections |= {index: markdown.section(self.panel, answer) for index, answer in come.items()}
            self._add(*(self._sections[index] for index in come if index in self._sections))
        return tuple(answers[index] for index in range(len(self._seats)))

    def _every_answer(self, answers: tuple[SeatAnswer, ...]) -> PanelReply:
        self._add(markdown.closing(self.panel))
        sections = (self._sections[index] for index in range(len(answers)))
        return self._reply_with(answers, markdown.every_answer(self.panel, sections))

    async def _merged(self, answers: tuple[SeatAnswer, ...], merge: Merge) -> PanelReply:
        loop = asyncio.get_running_loop()
        self._merging = asyncio.ensure_future(merge(answers, lambda text: _call_soon(loop, self._add, text)))
        try:
            merged = await self._merging
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            merged = Merged(None, f"Interrupted: {self._interrupted}.")
        if merged.succeeded and merged.merger:
            answer = merged.merger.answer.strip()
            closing = markdown.merged_closing(self.panel, merged.merger, answers, passed_over=merged.passed_over)
            # What the merger had written as it went has been told; the rest of it, if any was held back, has not.
            written = "".join(self._pieces)
            self._add((answer.removeprefix(written) if answer.startswith(written) else "") + closing)
            return self._reply_with(answers, answer + closing, merged)
        whole = markdown.unmerged(self.panel, merged.note, answers)
        written = "".join(self._pieces)
        self._add(f"{markdown.closer(written)}\n\n---\n\n{whole}" if written else whole)
        return self._reply_with(answers, whole, merged)

    def _reply_with(self, answers: tuple[SeatAnswer, ...], content: str, merged: Merged | None = None) -> PanelReply:
        return PanelReply(
            panel=self.panel,
            seats=answers,
            content=content,
            seconds=time.time() - self.panel.created,
            completion_tokens=estimate_text(content),
            merger=merged.merger if merged else None,
            note=merged.note if merged else "",
        )

    def _add(self, *pieces: str) -> None:
        self._pieces.extend(pieces)
        self._tell()

    @property
    def ended(self) -> bool:
        return self._end.is_set()

    def _tell(self) -> None:
        """Wake everyone who waits; whoever comes later waits for the next change."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _answer(self, index: int) -> SeatAnswer:
        try:
            return self._answers[index].result()
        except Exception:
            # The seat's boundary, as follow's is the panel's.
            logger.exception("A seat of panel %s ended in an error of the gateway", self.panel.id)
            return self._unanswered(index, "the gateway failed while asking; its log says why")

    def _unanswered(self, index: int, why: str) -> SeatAnswer:
        seat = self._seats[index]
        return SeatAnswer(
            call=f"{self.panel.id}.{seat.name}",
            alias=seat.model.alias,
            nominated=seat.nominated,
            status="error",
            error_kind="interrupted",
            error=why,
        )


class Arrivals:
    """Answers as they end in other threads, told to the event loop that made this.

    Several that end together wake it once: asyncio.wrap_future would for each, and make a future of its own for it.
    """

    def __init__(self, answers: Sequence[Future[SeatAnswer]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._come: list[int] = []
        self._some = asyncio.Event()
        for index, answer in enumerate(answers):
            answer.add_done_callback(partial(self._ended, index))

    async def some(self) -> list[int]:
        """Wait for any, and return which have ended since it was last asked, in their order."""
        await self._some.wait()
        self._some.clear()
        with self._lock:
            come, self._come = self._come, []
        return sorted(come)

    def _ended(self, index: int, _: Future[SeatAnswer]) -> None:
        with self._lock:
            self._come.append(index)
            first = len(self._come) == 1
        # A loop that has closed meanwhile has nobody left to tell.
        if first and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._some.set)


class RunningPanels:
    """Every panel of this process that has not ended."""

    def __init__(self) -> None:
        # The event loop holds tasks weakly: without this a panel nobody watches could be collected in mid-air.
        self._followers: dict[PanelRun, asyncio.Task[None]] = {}

    def follow(self, run: PanelRun) -> None:
        follower = asyncio.ensure_future(self._followed(run))
        self._followers[run] = follower
        follower.add_done_callback(lambda _: self._followers.pop(run))

    async def _followed(self, run: PanelRun) -> None:
        telling = asyncio.ensure_future(_tell_pages(run))
        await run.follow()
        await telling

    def get(self, panel_id: str) -> PanelRun | None:
        return next((run for run in self._followers if run.panel.id == panel_id), None)

    def asked(self, request: Request) -> PanelRun | None:
        """The panel that the same caller's same question runs, if it does."""
        same = (run for run in self._followers if run.request.caller == request.caller)
        return next((run for run in same if run.request.question == request.question), None)

    def interrupt(self, why: str) -> None:
        """Have every panel end with what has come."""
        for run in list(self._followers):
            run.interrupt(why)

    def __len__(self) -> int:
        return len(self._followers)


async def _tell_pages(run: PanelRun) -> None:
    """Tell the dashboard's open pages of each seat that ends, and of the end."""
    told = -1
    while not run.ended:
        change, ended = run.next_change, run.seats_ended
        if ended != told:
            told = ended
            await announce(run.panel.id)
        await change.wait()
    await announce(run.panel.id)


@cache
def running_panels() -> RunningPanels:
    """The process's running panels."""
    return RunningPanels()


def _call_soon(loop: asyncio.AbstractEventLoop, add: Callable[[str], None], text: str) -> None:
    """From a seat's thread. A loop that has closed meanwhile has nobody left to tell."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(add, text)
