"""How large a prompt is, estimated in tokens without any model's tokenizer, and who is too small for it.

The estimate errs high on purpose: a prompt that is refused can be shortened, one that overflows fails five seats.
"""

import math
import re
from collections.abc import Iterable, Sequence

from collections_app.models import LanguageModel
from gateway.chat import Message, TextPart
from gateway.errors import TooLarge

IMAGE_TOKENS = 2500
_MARGIN = 1.1

# Tokens a character: ¼ for ASCII and Latin letters, 1¼ for Chinese, Japanese and Korean, 2 for emoji, ¾ for any other script.
_ASCII = bytes(range(0x80))
_LATIN = re.compile(
    r"[\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\ufb00-\ufb06\uff21-\uff3a\uff41-\uff5a]+"
)
_EAST_ASIAN = re.compile(
    r"[\u1100-\u11ff\u2e80-\u2fdf\u3000-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
    r"\uff00-\uff20\uff3b-\uff40\uff5b-\uffef\U0001aff0-\U0001b16f\U0001f200-\U0001f2ff\U00020000-\U0003ffff]+"
)
_EMOJI = re.compile(
    r"[\u203c\u2049\u20e3\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\ufe0f"
    r"\U0001f000-\U0001f1ff\U0001f300-\U0001faff]+"
)


def text_tokens(text: str) -> float:
    """Estimate one text, without the margin."""
    if text.isascii():
        return len(text) / 4
    # Most of most texts, which is counted without a look at each character. In UTF-8, no other character has such bytes.
    beyond = text.encode(errors="surrogatepass").translate(None, _ASCII).decode(errors="surrogatepass")
    latin, east_asian, emoji = (_length(script, beyond) for script in (_LATIN, _EAST_ASIAN, _EMOJI))
    others = len(beyond) - latin - east_asian - emoji
    ascii_tokens = (len(text) - len(beyond)) / 4
    return ascii_tokens + latin / 4 + east_asian * 1.25 + emoji * 2 + others * 0.75


def estimate(messages: Iterable[Message]) -> int:
    """Estimate a whole prompt, system text and images included."""
    text, images = 0.0, 0
    for message in messages:
        images += message.images
        text += sum(text_tokens(part.text) for part in message.parts if isinstance(part, TextPart))
    # 1.1 is a hair above eleven tenths in binary: rounding first keeps a whole number of tokens from growing by one.
    return math.ceil(round(text * _MARGIN, 6)) + images * IMAGE_TOKENS


def estimate_text(text: str) -> int:
    """Estimate one text as a prompt would be: plain English is characters / 4 plus 10 %, rounded up."""
    return estimate([Message("user", (TextPart(text),))])


def refuse_if_too_large(tokens: int, seated: Sequence[LanguageModel]) -> None:
    """Raise TooLarge naming every model that would sit and is known to be too small. An unknown window refuses nothing."""
    small = [model for model in seated if not fits(tokens, model)]
    if not small:
        return
    windows = "; ".join(f"{model.alias} takes {_window(model)}" for model in small)
    raise TooLarge(
        f"The prompt is too large for {len(small)} of this panel's models: it is about {tokens:,} tokens, and {windows}. "
        "Shorten it, split it, or ask a collection whose members have larger windows "
        "(GET /v1/models: together.context_window). If a window is wrong, correct it on the model's page.",
        code="context_length_exceeded",
        param="messages",
    )


def _window(model: LanguageModel) -> str:
    held = model.known.held("context_window")
    return f"{held.value:,} ({held.by})" if held else "what nobody knows"


def fits(tokens: int, model: LanguageModel) -> bool:
    window = model.known.get("context_window")
    return window is None or tokens <= window


def _length(script: re.Pattern[str], text: str) -> int:
    return sum(found.end() - found.start() for found in script.finditer(text))
