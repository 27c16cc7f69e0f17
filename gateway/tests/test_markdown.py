"""The reply's Markdown: one section a seat, and no answer that swallows the next."""

import pytest

from collections_app.models import LanguageModel
from gateway.panel import markdown
from gateway.panel.seating import Seat
from gateway.reply import SeatAnswer, SkippedSeat


def answer(**fields) -> SeatAnswer:
    return SeatAnswer(**{"call": "p1.member1", "alias": "fast", "status": "ok", "seconds": 1.26, "answer": "Yes."} | fields)


def seat(name: str, family: str) -> Seat:
    return Seat(name, LanguageModel(alias=name, served_id=name, family=[family]))


def test_a_section_names_seat_call_status_and_seconds():
    assert markdown.section(answer()) == "## member · fast\n\n`p1.member1` · ok · 1.3 s\n\nYes.\n\n"


def test_a_failed_seat_says_why():
    text = markdown.section(answer(status="error", answer="", error="HTTP 500", error_kind="unavailable"))
    assert "error (unavailable): HTTP 500" in text


def test_an_empty_seat_says_why():
    assert "empty: spent its whole budget thinking" in markdown.section(
        answer(status="empty", answer="", error="spent its whole budget thinking")
    )


def test_the_heading_counts_seats_and_lists_who_was_not_asked():
    text = markdown.heading(
        "bench/core · p1",
        seats=[seat("member1", "llama"), seat("explorer1", "qwen")],
        skipped=[SkippedSeat("member", "old", "retired")],
        shape="general (set on the collection)",
    )
    assert text.startswith("# bench/core · p1 · 1 member + 1 explorer · shape general (set on the collection)\n")
    assert "Not asked: member old (retired)" in text
    assert "second opinion" not in text


def test_a_panel_of_one_family_is_said_to_be_no_second_opinion():
    text = markdown.heading("c", seats=[seat("member1", "smollm"), seat("member2", "smollm")], skipped=[], shape="general")
    assert "one family (smollm)" in text
    assert "not a second opinion" in text


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("no fence", "no fence"),
        ("```py\ncode", "```py\ncode\n```"),
        ("```py\ncode\n```", "```py\ncode\n```"),
        ("~~~~\n```\ncode\n~~~", "~~~~\n```\ncode\n~~~\n~~~~"),
        ("````\n```\n````\n```", "````\n```\n````\n```\n```"),
        ("```inline``` is no fence", "```inline``` is no fence"),
        ("    ```\nindented code, not a fence", "    ```\nindented code, not a fence"),
        ("```\ntext\n```js", "```\ntext\n```js\n```"),
    ],
)
def test_an_open_fence_is_closed_in_its_own_section(text, closed):
    assert markdown.close_fence(text) == closed
