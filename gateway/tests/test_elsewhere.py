"""Waiting for a panel of another process: its reply comes section by section, through a database that is away for a while."""

import asyncio
from dataclasses import replace

import pytest
from django.db import OperationalError

from evidence.selectors.progress import Progress
from gateway.chat import BenchOptions, ChatRequest
from gateway.panel import recorded
from gateway.panel.recorded import RecordedRun, progress_in
from gateway.panel.request import Request
from gateway.reply import AskedPanel, PanelReply, SeatAnswer
from keys.services import LOCAL

PANEL = AskedPanel(
    id="p20260102-150405-7f3a",
    model="bench/core",
    collection="bench/core",
    shape="general",
    shape_by="set on the collection",
    reply="all",
    members=2,
    explorers=0,
    skipped=(),
    ignored=(),
    notice="",
    prompt_tokens=8,
    created=1767366245.0,
    verdict_url="http://bench/bench/verdict",
)


def seat(number: int, ended_as: int | None) -> SeatAnswer:
    status = "running" if ended_as is None else "ok"
    return SeatAnswer(
        call=f"{PANEL.id}.member{number}", alias=f"m{number}", status=status, answer=f"says {number}", ended_as=ended_as
    )


def reply(*seats: SeatAnswer, **fields) -> PanelReply:
    return PanelReply(panel=PANEL, seats=seats, content="", seconds=1.0, completion_tokens=0, **fields)


class Elsewhere:
    """Something has always changed."""

    def __init__(self) -> None:
        self.seen: list[Progress] = []

    async def changed(self, panel_id: str, seen: Progress) -> bool:
        self.seen.append(seen)
        return True


@pytest.fixture
def run(monkeypatch):
    """Make a run of a panel that reads as these, one after the other; errors among them are raised."""

    def made(*reads) -> tuple[RecordedRun, Elsewhere]:
        left, elsewhere = list(reads), Elsewhere()

        def read(*_: object) -> PanelReply:
            now = left.pop(0)
            if isinstance(now, Exception):
                raise now
            return now

        monkeypatch.setattr(recorded, "recorded_reply", read)
        monkeypatch.setattr(recorded, "panels_elsewhere", lambda: elsewhere)
        monkeypatch.setattr(recorded, "LOOK_SECONDS", 0.0)
        chat = ChatRequest(model="core", messages=(), format="openai_chat", bench=BenchOptions())
        return RecordedRun(Request(chat, LOCAL, "http://bench"), PANEL.id), elsewhere

    return made


def pieces(made: RecordedRun) -> list[str]:
    async def read() -> list[str]:
        return [piece async for piece in made.pieces()]

    return asyncio.run(read())


def test_sections_come_in_the_order_in_which_seats_ended(run):
    made, elsewhere = run(reply(seat(1, None), seat(2, None)), reply(seat(1, None), seat(2, 1)), reply(seat(1, 2), seat(2, 1)))
    told = pieces(made)
    assert ["says 2" in told[1], "says 1" in told[2], "Verdict" in told[3]] == [True] * 3
    assert elsewhere.seen == [Progress(0, 2), Progress(1, 1)]


def test_what_has_ended_already_comes_whole_and_in_seat_order(run):
    made, _ = run(reply(seat(1, 2), seat(2, 1)))
    (told,) = pieces(made)
    assert told.index("says 1") < told.index("says 2")


def test_a_database_that_is_away_meanwhile_costs_nothing_but_time(run):
    made, _ = run(reply(seat(1, None)), OperationalError("gone"), OperationalError("gone"), reply(seat(1, 1)))
    assert asyncio.run(made.result()).seats[0].answer == "says 1"


def test_how_far_a_panel_is_tells_a_note_from_a_merger_that_failed():
    failed = replace(seat(3, 3), call=f"{PANEL.id}.merger", status="error")
    assert progress_in(reply(seat(1, 1), note="Not merged.")) == Progress(1, 0, noted=True)
    assert progress_in(reply(seat(1, 1), note="The merge failed.", merger=failed)) == Progress(2, 0)
