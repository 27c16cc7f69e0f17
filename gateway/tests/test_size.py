"""The size estimate, which errs high on purpose."""

import pytest

from collections_app.models import LanguageModel
from gateway.chat import ImagePart, Message, TextPart
from gateway.errors import TooLarge
from gateway.panel.size import estimate, estimate_text, refuse_if_too_large


def test_plain_english_is_a_quarter_a_character_plus_ten_percent():
    assert estimate_text("a" * 400) == 110
    assert estimate_text("a" * 8000) - estimate_text("a" * 4000) == 1100


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("é" * 400, 110),
        ("汉" * 80, 110),
        ("あ" * 80, 110),
        ("한" * 80, 110),
        ("😀" * 50, 110),
        ("🇩🇪" * 25, 110),
        ("д" * 400, 330),
        ("ع" * 400, 330),
        ("a" * 200 + "汉" * 40, 110),
        ("aé汉😀д" * 100, 495),
        ("\ud83d" * 400, 330),
    ],
)
def test_each_script_has_its_own_weight(text, tokens):
    assert estimate_text(text) == tokens


def test_system_text_counts_and_an_image_is_2500():
    messages = [
        Message("system", (TextPart("b" * 4000),)),
        Message("user", (TextPart("a" * 400), ImagePart("https://x.example/a.png"), ImagePart("https://x.example/b.png"))),
    ]
    assert estimate(messages) == 1210 + 5000


def test_every_member_known_to_be_too_small_is_named_with_its_window():
    small, smaller = LanguageModel(alias="small", context_window=4096), LanguageModel(alias="smaller", context_window=2048)
    unknown = LanguageModel(alias="unknown")
    refuse_if_too_large(2048, [small, smaller, unknown])
    with pytest.raises(TooLarge, match=r"smaller takes 2,048 .*about 2,049|about 2,049 .*smaller takes 2,048") as refusal:
        refuse_if_too_large(2049, [small, smaller, unknown])
    assert "small takes" not in refusal.value.message
    with pytest.raises(TooLarge, match="2 of this panel's models"):
        refuse_if_too_large(5000, [small, smaller, unknown])
