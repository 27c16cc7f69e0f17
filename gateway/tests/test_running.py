"""A running panel: seats that end together are told in seat order, whoever was first by a hair."""

import asyncio
from concurrent.futures import Future

from collections_app.models import LanguageModel
from gateway.chat import ChatRequest, Message, TextPart
from gateway.panel.request import Request
from gateway.panel.running import PanelRun
from gateway.panel.seating import Seat
from gateway.reply import SeatAnswer
from gateway.tests.replies import asked_panel
from keys.services import LOCAL

PANEL = asked_panel(members=8)
CHAT = ChatRequest(format="openai_chat", model="bench/core", messages=(Message("user", (TextPart("Is it?"),)),))


def running(answers: list[Future[SeatAnswer]]) -> PanelRun:
    seats = [Seat(f"member{n}", LanguageModel(alias=f"m{n}")) for n in range(1, len(answers) + 1)]
    return PanelRun(PANEL, Request(CHAT, LOCAL, "http://bench"), seats=seats, answers=answers, merge=None)


def answer(answers: list[Future[SeatAnswer]], number: int) -> None:
    answers[number - 1].set_result(SeatAnswer(call=f"p1.member{number}", alias=f"m{number}", status="ok", answer="Yes."))


async def told(run: PanelRun) -> list[str]:
    """The alias of each section, in the order in which they come."""
    return [piece.split()[3] async for piece in run.pieces() if piece.startswith("## ")]


def test_seats_that_end_apart_are_told_as_they_end() -> None:
    async def follow() -> list[str]:
        answers: list[Future[SeatAnswer]] = [Future() for _ in range(3)]
        run = running(answers)
        following = asyncio.ensure_future(run.follow())
        for number in (2, 3, 1):
            change = run.next_change
            answer(answers, number)
            await asyncio.wait_for(change.wait(), 5)
        await following
        return await told(run)

    assert asyncio.run(follow()) == ["m2", "m3", "m1"]


def test_seats_that_end_together_are_told_in_seat_order() -> None:
    async def follow() -> list[str]:
        answers: list[Future[SeatAnswer]] = [Future() for _ in range(8)]
        run = running(answers)
        for number in (5, 8, 1, 7, 3, 2, 6, 4):
            answer(answers, number)
        await run.follow()
        return await told(run)

    assert asyncio.run(follow()) == [f"m{n}" for n in range(1, 9)]


def test_an_interruption_passes_over_a_seat_that_ends_in_that_moment() -> None:
    class EndsMeanwhile(Future[SeatAnswer]):
        def done(self) -> bool:
            return False

    async def follow() -> list[str]:
        answers: list[Future[SeatAnswer]] = [EndsMeanwhile(), Future()]
        run = running(answers)
        following = asyncio.ensure_future(run.follow())
        answer(answers, 1)
        run.interrupt("the server was stopped")
        await asyncio.wait_for(following, 5)
        return [seat.status for seat in (await run.result()).seats]

    assert asyncio.run(follow()) == ["ok", "error"]
