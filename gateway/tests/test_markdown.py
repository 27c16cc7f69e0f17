"""The reply's Markdown: one section a seat, and no answer that swallows the next."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gateway.panel import markdown
from gateway.reply import AskedPanel, SeatAnswer, SkippedSeat
from gateway.tests.replies import asked_panel


def answer(**fields) -> SeatAnswer:
    return SeatAnswer(**{"call": "p1.member1", "alias": "fast", "status": "ok", "seconds": 1.26, "answer": "Yes."} | fields)


def panel(**fields) -> AskedPanel:
    return asked_panel(**{"explorers": 2} | fields)


def test_a_section_names_seat_call_status_and_seconds():
    assert markdown.section(panel(), answer()) == "## member · fast\n\n`p1.member1` · ok · 1.3 s\n\nYes.\n\n"


def test_a_failed_seat_says_why():
    text = markdown.section(panel(), answer(status="error", answer="", error="HTTP 500", error_kind="unavailable"))
    assert "error (unavailable): HTTP 500" in text


def test_an_empty_seat_says_why():
    assert "empty: spent its whole budget thinking" in markdown.section(
        panel(), answer(status="empty", answer="", error="spent its whole budget thinking")
    )


def test_the_heading_counts_seats_and_lists_who_was_not_asked():
    text = markdown.heading(panel(skipped=(SkippedSeat("member", "old", "retired"),), notice="One family."))
    assert text.startswith("# bench/core · p1 · 1 member + 2 explorers · shape general (set on the collection)\n")
    assert "Not asked: member old (retired)" in text
    assert text.endswith("\n\nOne family.\n\n")


def test_the_whole_reply_is_its_pieces_in_seat_order():
    first, second = answer(), answer(call="p1.explorer1", alias="slow")
    whole = markdown.every_answer(panel(), markdown.sections(panel(), [first, second]))
    pieces = [
        markdown.heading(panel()),
        markdown.section(panel(), first),
        markdown.section(panel(), second),
        markdown.closing(panel()),
    ]
    assert whole == "".join(pieces)
    assert "POST http://127.0.0.1:8123/bench/verdict" in pieces[-1]


OPEN = [
    "```py\ncode",
    "~~~~\n```\ncode\n~~~",
    "````\n```\n````\n```",
    "```\ntext\n```js",
    "a\r```py\rcode",
    "- a\n\n  ```py\n  x",
    "1. step\n   ```sh\n   ls",
    "> quoted\n> ```\n> x",
    "<!-- a comment",
    "<pre>\ncode",
    "<script>\nalert(1)",
    "<style>\nbody {}",
    "<textarea>\n",
    "<?php echo 1",
    "<![CDATA[ x",
    "<!DOCTYPE html",
    "<!--\n```\n<pre>",
    "```\n<!-- `````",
    "<div>\nhtml",
]
CLEAN = ["no fence", "```py\ncode\n```", "```inline``` is no fence", "a < b", "<b>bold</b>", "    ```\nindented code"]


@pytest.mark.parametrize("text", OPEN + CLEAN)
def test_nothing_an_answer_opens_swallows_the_next_section(text):
    sections = "".join(markdown.sections(panel(), [answer(answer=text), answer(alias="next", answer="Mine.")]))
    headings = [
        inline.content
        for opening, inline in pairwise(MarkdownIt("commonmark").parse(sections))
        if opening.type == "heading_open" and opening.level == 0
    ]
    assert headings[-1] == "member · next"
    assert headings[0] == "member · fast"


@pytest.mark.parametrize("text", CLEAN)
def test_what_is_closed_is_left_as_it_was(text):
    assert markdown.close_blocks(text) == text


HOSTILE = {
    "fences": "\n".join("`" * length for length in range(344, 2, -1)),
    "list under html": "<\n" + "- a\n" * 50_000,
    "prose": "It is < a word. " * 60_000,
    "ticks": "`" * 1_000_000,
    "spaces": " " * 500_000 + "```",
    "quotes": "> " * 200_000 + "```",
    "short lists": "- " * 3_000,
    "short html": "<!--" * 1_500,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_answer_is_costly_to_close(text):
    """Twenty sections; what the parser would take for one of these is seconds."""
    started = time.process_time()
    for _ in range(20):
        markdown.section(panel(), answer(answer=text))
    assert time.process_time() - started < 10


def test_a_long_answers_open_blocks_are_closed_too():
    long = "x" * 10_000
    assert markdown.close_blocks(f"{long}\n```py\ncode").endswith("\n```")
    assert markdown.close_blocks(f"{long}\n<!-- comment").endswith("\n-->")
    assert markdown.close_blocks(f"{long}\n```py\ncode\n```").endswith("code\n```")
    assert markdown.close_blocks(f"{long}\nWrite `<pre>` here.").endswith(" here.")


LONG = [
    "```markdown\n```py\nx\n```\n```",
    "```\ntext\n```js",
    "```py`code\n\n~~~\nx",
    "```code``` it is.",
    "```md\n> ```\n    ```\nx",
    "1. step\n\n   ```sh\n   ls",
    "- item\n  - item\n    ```js\n    a()",
    "> ```\n> x",
    "a\n\n    ```\n    code",
    "| `<pre>` | x |\n\n`<!--` and\n\n1. step\n   ```\n   x\n   ```",
]


@pytest.mark.parametrize("text", LONG)
def test_nothing_a_long_answer_opens_swallows_the_next_section(text):
    sections = markdown.section(panel(), answer(answer="x" * 10_000 + f"\n\n{text}")) + markdown.section(
        panel(), answer(alias="next")
    )
    tokens = MarkdownIt("commonmark").parse(sections)
    assert any(opening.level == 0 and inline.content == "member · next" for opening, inline in pairwise(tokens))


@pytest.mark.parametrize("told", ["``` a` b\n~~~\ncode", "- a\n  ```\n  b", "Done."])
def test_what_is_told_already_is_closed_without_being_told_again(told):
    tokens = MarkdownIt("commonmark").parse(f"{told}{markdown.closer(told)}\n\n---\n\n## next")
    assert tokens[-2].content == "next"
    assert set(markdown.closer(told)) <= set("\n`~")


def test_an_open_fence_is_closed_by_one_like_it():
    assert markdown.close_blocks("```py\ncode") == "```py\ncode\n```"


@given(
    st.lists(
        st.sampled_from(["```", "~~~~", "<!--", "-->", "<pre>", "- ", "> ", "  ", "x", "\n", "\r", "`", "1. "]), max_size=30
    )
)
def test_whatever_an_answer_is_made_of_the_next_section_stands(parts):
    sections = "".join(markdown.sections(panel(), [answer(answer="x" + "".join(parts)), answer(alias="next")]))
    tokens = MarkdownIt("commonmark").parse(sections)
    assert any(opening.level == 0 and inline.content == "member · next" for opening, inline in pairwise(tokens))


def test_an_answer_cut_at_its_limit_says_so():
    assert "ok · 1.3 s · cut at its output limit" in markdown.section(panel(), answer(finish_reason="length"))
