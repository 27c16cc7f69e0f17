"""What a model thought aloud is told apart from what it answered."""

import time

import pytest

from gateway.upstream.answer import Gathering
from gateway.upstream.answer.showing import AnswerAsItComes
from gateway.upstream.answer.thinking import MARKS, split_thinking
from gateway.upstream.contract import Delta


def test_a_thought_at_the_start_is_taken_off() -> None:
    assert split_thinking("<think>Six times seven.</think>\n\nThe answer is 42.") == ("Six times seven.", "The answer is 42.")


@pytest.mark.parametrize("marks", MARKS)
def test_every_way_to_mark_a_thought_is_known(marks: tuple[str, str]) -> None:
    opening, closing = marks
    assert split_thinking(f"\n {opening}\nHm.\n{closing}\nYes.") == ("Hm.", "Yes.")
    assert split_thinking(f"{opening}Hm, and no end") == ("Hm, and no end", "")


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think></think>Yes.", "", "Yes."),
        ("<think>One.</think>\n<think>Two.</think>\nYes.", "One.\n\nTwo.", "Yes."),
        ("<think>", "", ""),
        ("Six times seven.\n</think>\n\nThe answer.", "Six times seven.", "The answer."),
        ("Six times seven.</think>\n\nThe answer.", "Six times seven.", "The answer."),
        ("</think>\nYes.", "", "Yes."),
        ("Hm.\n</think>", "Hm.", ""),
        ("Hm.\n◁/think▷Yes.", "Hm.", "Yes."),
        ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>", "Hm.", "Yes."),
        ("<|start|>assistant<|channel|>analysis<|message|>Hm, and no end", "Hm, and no end", ""),
        ("<|channel|>commentary to=f<|message|>{}<|call|><|channel|>final <|constrain|>x<|message|>Yes.", "{}", "Yes."),
        ("analysisWe need the answer.assistantfinalThe answer.", "We need the answer.", "The answer."),
    ],
)
def test_odd_thoughts_are_told_apart(text: str, reasoning: str, answer: str) -> None:
    assert split_thinking(text) == (reasoning, answer)


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 42.",
        "  indented code",
        "Write <think> before and </think> after.",
        "Models close their thoughts with `</think>`\nand then answer.",
        "Put it so:\n```\nHm.\n</think>\n```\nand go on.",
        "First <think>x\n</think>\nthen more.",
        "analysis is a word, and so is final.",
        "A < b and <thinking about it>.",
        "",
    ],
)
def test_an_answer_that_speaks_of_thoughts_is_left_alone(text: str) -> None:
    assert split_thinking(text) == ("", text)


def test_where_reasoning_came_apart_a_closing_mark_alone_is_text() -> None:
    assert split_thinking("Use\n</think>\nthen.", apart=True) == ("", "Use\n</think>\nthen.")
    assert split_thinking("<think>Hm.</think>Yes.", apart=True) == ("Hm.", "Yes.")


def test_a_thought_is_told_apart_however_it_was_streamed_and_never_answers() -> None:
    gathering = Gathering()
    for piece in ("<", "thi", "nk>Hm", ".", "</th", "ink>", " "):
        gathering.add(Delta(text=piece))
    completion = gathering.completion()
    assert (completion.text, completion.reasoning) == ("", "Hm.")
    assert completion.empty_why == "it thought, and then gave no answer"


def shown(*pieces: str) -> str:
    answer = AnswerAsItComes()
    return "".join(answer.after(piece) for piece in pieces)


ANSWER = "The answer is 42, as everybody knows by now."


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        f"\n\n {ANSWER}",
        *(f" {opening}Hm.{closing}\n{opening}Hm again.{closing} {ANSWER}" for opening, closing in MARKS),
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
        f"<|channel|>final <|constrain|>json<|message|>{ANSWER}",
        f"analysisWe need it.assistantfinal{ANSWER}",
    ],
)
def test_what_a_stream_shows_is_the_answer_however_it_was_cut(text: str) -> None:
    assert split_thinking(text)[1].strip() == ANSWER
    for size in range(1, len(text) + 1):
        assert shown(*(text[start : start + size] for start in range(0, len(text), size))) == ANSWER, size


@pytest.mark.parametrize(
    "text", ["Yes.", "<think>Hm, and no end", "<|channel|>analysis<|message|>Hm.", "analysisHm.", "\n" * 90]
)
def test_what_cannot_be_told_apart_yet_is_not_shown(text: str) -> None:
    assert shown(*text) == ""


SPACES = "\n" * 300_000


@pytest.mark.parametrize(
    "text",
    [
        SPACES,
        "<think></think>" * 60_000,
        "<think>" + "</thin" * 100_000,
        f"analysis{SPACES}",
        "<|channel|>" + "a" * 300_000 + "<",
        "<|channel|>" * 30_000,
        "<|channel|>final" * 30_000,
        f"x{SPACES}</think",
        "x" + "\n     " * 60_000 + "/think",
        "`</think>" * 40_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_an_endless_thought_costs_no_more_than_its_length(text: str) -> None:
    started = time.thread_time()
    split_thinking(text)
    shown(text)
    # A pass over the text for each of its marks or spaces would take minutes.
    assert time.thread_time() - started < 2


@pytest.mark.parametrize("begins", ["", "<think>", "<|channel|>", "<|channel|>final<|message|>", "analysisA"])
@pytest.mark.parametrize("piece", ["\n", "thought ", "<", "<think></think>"])
def test_a_stream_of_small_pieces_costs_no_more_than_they_are_long(begins: str, piece: str) -> None:
    started = time.thread_time()
    shown(begins, *[piece] * 60_000)
    assert time.thread_time() - started < 2
