"""Nothing secret and no picture is ever written down, however an upstream echoes it."""

import base64
import json
import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.chat import ImagePart
from gateway.redact import beginning, describe_image, hide_images, redact

PICTURE = base64.b64encode(random.Random(1).randbytes(3000)).decode()
WRAPPED = base64.encodebytes(random.Random(1).randbytes(3000)).decode()
DATA_URL = f"data:image/png;base64,{PICTURE}"
SECRET = "9f8e7d6c5b4aQWERTY"


def holds_picture(text: str) -> bool:
    """Whether any 24 characters of the picture are still there."""
    flat = text.replace("\\/", "/").replace("\n", "").replace("\\n", "")
    return any(PICTURE[start : start + 24] in flat for start in range(0, len(PICTURE) - 24, 6))


def test_an_echoed_request_keeps_its_words_and_loses_its_secrets() -> None:
    echoed = f'Bad image_url "{DATA_URL}" for key sk-live-0123456789abcdef at https://api.example/v1?key=abcdef123456&x=1'
    assert redact(echoed) == 'Bad image_url "[image: data URL, 3 KB]" for key [key] at https://api.example/v1?...'


@pytest.mark.parametrize(
    "text",
    [
        DATA_URL,
        DATA_URL.replace("data:image", "DATA:IMAGE"),
        f"data:image/png;base64,{WRAPPED}",
        f"data:image/svg+xml;charset=utf-8;base64,{PICTURE}",
        json.dumps({"url": DATA_URL}).replace("/", "\\/"),
        json.dumps({"url": f"data:image/png;base64,{WRAPPED}"}),
        f"cut off: data:image/jpeg;base64,{PICTURE[:700]}",
        PICTURE,
        f"bytes: {PICTURE[:300]} and so on",
        PICTURE.replace("/", "_").replace("+", "-"),
        WRAPPED,
        f"({DATA_URL})",
    ],
)
def test_a_picture_leaves_only_its_size(text: str) -> None:
    assert holds_picture(text.replace("_", "/").replace("-", "+"))
    for written in (hide_images(text), redact(text)):
        assert not holds_picture(written.replace("_", "/").replace("-", "+"))
        assert " KB]" in written


def test_a_drawing_in_plain_text_is_a_picture_too() -> None:
    assert (
        hide_images("see data:image/svg+xml,<svg xmlns='x'><path d='M0 0'/></svg> here") == "see [image: data URL, 1 KB] here"
    )
    assert "M0" not in hide_images("cut data:image/svg+xml;utf8,<svg xmlns='x'><path d='M0 0")


@pytest.mark.parametrize(
    "text",
    [
        "A plain answer, with a path /usr/lib/python3.11/site-packages and a-hyphenated-word.",
        "-" * 400,
        "| " + "---|" * 100,
        "ACGT" * 100,
        "\n".join(f"{number:064x}" for number in range(50, 60)),
        "x" * 199,
        "Write it as data:image/png;base64 and go on.",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert hide_images(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"{{'Authorization': 'Bearer {SECRET}'}}",
        f'"authorization": ["Basic {SECRET}"]',
        f"x-api-key={SECRET}",
        f"X-Goog-Api-Key: {SECRET}",
        f"set-cookie: session={SECRET}; path=/",
        f"you sent bearer {SECRET}",
        f"POST /v1beta/models/m:generateContent?key={SECRET} failed",
        f"https://user:{SECRET}@host.example/v1",
        f"postgres://user:{SECRET}@host.example/db",
        f"https://host.example/v1?a=1&token={SECRET}",
        f"https:\\/\\/host.example\\/v1?a=1\\u0026token={SECRET}",
        f"https://host.example/cb#access_token={SECRET}",
        f"secret: password: {SECRET}",
        f"my-sk-{SECRET}",
        f"sk-words-alone-and-glpat-{SECRET}",
        f"key-{SECRET}",
        f"Incorrect API key provided: {SECRET}. Find yours on the site.",
        f"password: {SECRET}",
        f"sk-{SECRET}",
        f"sk-proj-{SECRET[:8]}****{SECRET[-4:]}",
        f"gsk_{SECRET}",
        f"AIza{SECRET}{SECRET}",
        f"hf_{SECRET}",
        f"github_pat_{SECRET}",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI5ZjhlN2Q2YyJ9.9f8e7d6c5b4aQWERTY",
        f"0123456789abcdef0123456789abcdef.{SECRET[:16]}",
    ],
)
def test_a_key_is_hidden_wherever_it_stands(text: str) -> None:
    written = redact(text)
    assert SECRET not in written
    assert SECRET[:8] not in written
    assert SECRET[-6:] not in written


def test_a_key_that_is_one_word_is_hidden() -> None:
    assert redact("AKIAIOSFODNNEXAM") == "[key]", "the shortest of its form, all letters"
    assert redact("sesame", ["sesame"]) == "[key]"
    assert redact("content") == "content"


def test_the_keys_of_the_call_itself_are_hidden_whatever_their_form() -> None:
    assert redact("key is plainwords, or plain/words+x as plain%2Fwords%2Bx", ["plainwords", "plain/words+x"]) == (
        "key is [key], or [key] as [key]"
    )
    assert redact("longer-key and key-part", ["key-part", "longer-key"]) == "[key] and [key]"
    assert redact("on and on", ["on"]) == "on and on", "a value this short is no secret"


@pytest.mark.parametrize(
    "text",
    [
        "Bearer authentication required.",
        "API key is invalid: authentication failed",
        "max_tokens: 100000 is too large",
        "Rate limit reached for model `llama-3.1-8b-instant` in organization `org_x`: Limit 6000, Used 5034.",
        "This model's maximum context length is 8192 tokens. See https://help.example/limits.",
        "Unexpected token: constructor",
        "the task-0123456789abc failed",
        "the sk-learn-like-package and the key-value-store-of-many-words failed",
        "secret: unknown, password: required",
        "model 'z-ai/glm4.7' has reached its end of life on 2026-05-14T00:00:00Z",
    ],
)
def test_an_honest_message_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_an_image_is_described_without_what_gives_access_to_it() -> None:
    assert describe_image(DATA_URL) == "[image: data URL, 3 KB]"
    assert describe_image("https://me:pw@photos.example/a.jpg?sig=1#x") == "[image: https://photos.example/a.jpg?...]"
    assert describe_image("https://photos.example/a.jpg") == "[image: https://photos.example/a.jpg]"
    assert describe_image("http://[::1/broken") == "[image: unreadable URL]"
    assert repr(ImagePart("http://[::1/broken")) == "[image: unreadable URL]"
    assert len(describe_image("https://photos.example/" + "a" * 9000)) < 260


# What the patterns look for, and what they stop at.
NAMES = ("sk", "key", "hf_", "glpat", "eyJ", "AIza", "AKIA", "AQ.", "secret", "password", "api key", "token=", "bearer")
PLACES = ("cookie", "authorization", "data:", "image/png;base64,", "image/svg+xml,<svg ", "https://", "a://", "a@", "data")
SIGNS = (*"-_:=/.,;*?#@[]{}\"'\\ \n\t\u00a0aZ07+é", "\\/", "\\n")
RUNS = ("Ab1" * 25 + "\n", "Ab1" * 70, "0123456789abcdef" * 2)
PIECES = st.sampled_from((*NAMES, *PLACES, *SIGNS, *RUNS))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(begins=st.lists(PIECES, max_size=2), repeated=st.lists(PIECES, min_size=1, max_size=5))
@example(begins=[], repeated=["sk", "-"])
@example(begins=[], repeated=["key", "-"])
@example(begins=[], repeated=["eyJ", "-"])
@example(begins=[], repeated=["glpat", "-"])
@example(begins=[], repeated=["secret", ":"])
def test_hostile_text_costs_no_more_than_its_length(begins: list[str], repeated: list[str]) -> None:
    unit = "".join(repeated)
    text = "".join(begins) + unit * (150_000 // len(unit))
    started = time.thread_time()
    redact(text, ["not-in-here"])
    # A pass over it for each of its words would take many times as long.
    assert time.thread_time() - started < 3


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox read gateway/redact.py 17 times. " * 360_000,
        base64.encodebytes(random.Random(2).randbytes(14_000_000)).decode(),
        f"data:image/png;base64,{base64.b64encode(random.Random(2).randbytes(14_000_000)).decode()}",
        '{"type": "text", "text": "x"}\n' * 500_000,
        "漢字かな交じり文、" * 700_000,
    ],
    ids=["words", "lines", "image", "parts", "wide"],
)
def test_the_largest_prompt_is_looked_through_in_a_moment(text: str) -> None:
    started = time.thread_time()
    hide_images(text)
    # Meanwhile nothing else in the process moves. About 0.1 s; the margin is for a slow machine.
    assert time.thread_time() - started < 1.5


OWN = "https://u:pw@Photos.example/a(1).jpg?sig=SECRET&x=1"


@pytest.mark.parametrize(
    ("said", "written"),
    [
        (OWN, "[image: https://photos.example/a(1).jpg?...]"),
        (f"![it]({OWN}) and more", "![it]([image: https://photos.example/a(1).jpg?...] and more"),
        (json.dumps({"url": OWN}).replace("/", "\\/"), '{"url": "[image: https://photos.example/a(1).jpg?...]"}'),
        ("cut: https://u:pw@Photos.example/a(1).jpg?sig=SEC", "cut: [image: https://photos.example/a(1).jpg?...]"),
        ("HTTPS://photos.example/a(1).jpg?sig=SECRET", "[image: https://photos.example/a(1).jpg?...]"),
        ("see https://photos.example/a(1).jpg.", "see [image: https://photos.example/a(1).jpg?...]."),
        ("https://u:pw@photos.exa", "https://photos.exa"),
        ("https://photos.example/b.jpg?page=2 stays", "https://photos.example/b.jpg?page=2 stays"),
        ("as does https://me:you@other.example/", "as does https://me:you@other.example/"),
    ],
)
def test_an_address_of_the_requests_own_images_becomes_its_placeholder(said: str, written: str) -> None:
    assert hide_images(said, [OWN, DATA_URL, "http://[::1/broken"]) == written
    assert hide_images(said) == said


def test_a_long_text_is_cut_between_words_and_without_its_images() -> None:
    assert beginning("short", 5) == "short"
    assert beginning(f"look {DATA_URL} at sk-live-0123456789", 48) == "look [image: data URL, 3 KB] at"
    assert beginning("x" * 50, 10) == "x" * 10
