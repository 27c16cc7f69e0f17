"""The reply's Markdown: one section a seat, and no answer that swallows the next."""

import pytest

from gateway.panel import markdown
from gateway.reply import AskedPanel, SeatAnswer, SkippedSeat


def answer(**fields) -> SeatAnswer:
    return SeatAnswer(**{"call": "p1.member1", "alias": "fast", "status": "ok", "seconds": 1.26, "answer": "Yes."} | fields)


def panel(**fields) -> AskedPanel:
    plain = {
        "id": "p1",
        "model": "bench/core",
        "collection": "bench/core",
        "shape": "general",
        "shape_by": "set on the collection",
        "reply": "all",
        "members": 1,
        "explorers": 2,
        "skipped": (),
        "ignored": (),
        "notice": "",
        "prompt_tokens": 1,
        "created": 0.0,
        "verdict_url": "http://127.0.0.1:8123/bench/verdict",
    }
    return AskedPanel(**(plain | fields))


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
    text = markdown.heading(panel(skipped=(SkippedSeat("member", "old", "retired"),), notice="One family."))
    assert text.startswith("# bench/core · p1 · 1 member + 2 explorers · shape general (set on the collection)\n")
    assert "Not asked: member old (retired)" in text
    assert text.endswith("\n\nOne family.\n\n")


def test_the_whole_reply_is_its_pieces_in_seat_order():
    first, second = answer(), answer(call="p1.explorer1", alias="slow")
    whole = markdown.every_answer(panel(), [first, second])
    pieces = [markdown.heading(panel()), markdown.section(first), markdown.section(second), markdown.closing(panel())]
    assert whole == "".join(pieces)
    assert "POST http://127.0.0.1:8123/bench/verdict" in pieces[-1]


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
