"""What one seat's answer becomes: as its caller reads it, as it is written down, as it is shown while it comes."""

from typing import Any

import pytest

from gateway.chat import ChatRequest, ImagePart, Message, TextPart
from gateway.panel.merge import merge_messages
from gateway.reply import SeatAnswer
from gateway.upstream.contract import Completion, Delta, Target, UpstreamError
from gateway.workers import seat
from gateway.workers.job import SeatJob
from gateway.workers.key_ring import KeyRing
from gateway.workers.seat import ask_seat, for_the_log
from gateway.workers.turnstile import Turnstile

URL = "https://u:pw@photos.example/a.jpg?sig=SECRET"
PLACEHOLDER = "[image: https://photos.example/a.jpg?...]"
QUESTION = (Message("user", (TextPart("What is it?"), ImagePart(URL), ImagePart("data:image/png;base64,AAAA"))),)
KEYS, OPEN = KeyRing(lambda read: read()), Turnstile(lambda reserve: reserve())


def job(model: str = "m") -> SeatJob:
    target = Target(protocol="openai_chat", base_url="", model=model, connect_timeout=1, first_token_timeout=1, seat_timeout=1)
    return SeatJob(call="p1.member1", alias="a", target=target, messages=QUESTION)


def answered_with(monkeypatch: pytest.MonkeyPatch, answer: Completion | UpstreamError, *deltas: Delta) -> None:
    def complete(*_: Any, on_delta: Any, **__: Any) -> Completion:
        for delta in deltas:
            on_delta(delta)
        if isinstance(answer, UpstreamError):
            raise answer
        return answer

    monkeypatch.setattr(seat, "complete", complete)


def test_an_images_address_is_the_callers_to_read_and_is_never_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    answered_with(monkeypatch, Completion(text=f"I see {URL}", reasoning=f"So {URL}."))
    answer = ask_seat(job(), KEYS, OPEN).answer
    assert answer.answer == f"I see {URL}"
    written = for_the_log(answer)
    assert (written.answer, written.reasoning) == (f"I see {PLACEHOLDER}", f"So {PLACEHOLDER}")
    assert "SECRET" not in repr(written)
    assert answer.image_urls == (URL,)


def test_a_failed_seats_words_hold_no_image_either(monkeypatch: pytest.MonkeyPatch) -> None:
    answered_with(monkeypatch, UpstreamError(f"cannot load {URL}", kind="refused", partial=f"It {URL}", reasoning=URL))
    written = for_the_log(ask_seat(job(), KEYS, OPEN).answer)
    assert (written.error, written.partial, written.reasoning) == (
        f"cannot load {PLACEHOLDER}",
        f"It {PLACEHOLDER}",
        PLACEHOLDER,
    )


def test_a_merger_is_not_told_what_gives_access_to_an_image() -> None:
    chat = ChatRequest(format="x", model="bench/pair", messages=QUESTION)
    answers = [SeatAnswer(call=f"p1.member{n}", alias="a", status="ok", answer=f"See {URL}") for n in (1, 2)]
    _, told = merge_messages(chat, answers, "tag")
    assert "SECRET" not in told.text
    assert told.text.count(PLACEHOLDER) == 3


@pytest.mark.parametrize(
    ("asked", "served", "other"),
    [
        ("x/y", "x/y", ""),
        ("x/y:free", "x/y", ""),
        ("smollm2-135m-instruct:steady", "smollm2-135m-instruct", ""),
        ("gemini-pro", "models/gemini-pro", ""),
        ("models/gemini-pro", "gemini-pro", ""),
        ("x/y", "", ""),
        ("x/y", "x/y:free", "x/y:free"),
        ("x/y:free", "x/z", "x/z"),
        ("x/y", "y", "y"),
        (":free", "", ""),
    ],
)
def test_a_served_model_is_named_where_it_is_another(
    monkeypatch: pytest.MonkeyPatch, asked: str, served: str, other: str
) -> None:
    answered_with(monkeypatch, Completion(text="Yes.", model=served))
    assert ask_seat(job(asked), KEYS, OPEN).answer.served_model == other


def test_an_answer_is_shown_as_it_comes_without_its_thoughts(monkeypatch: pytest.MonkeyPatch) -> None:
    deltas = [Delta(text=text) for text in ("<thi", "nk>Hm", ".</think>", "\n", "x" * 45, " and", " more", "")]
    answered_with(monkeypatch, Completion(text="x" * 45), *deltas)
    shown: list[str] = []
    ask_seat(job(), KEYS, OPEN, shown.append)
    assert shown == ["x" * 45, " and", " more"]
