"""The same model elsewhere: an id without what says by whom and how it is served. No family: size and version stay.

A hint for people ("also on the bench") and for what holds wherever a model is served: two ids that come out equal are taken
for one model, and now and then two checkpoints of one will.
"""

import re
from functools import lru_cache
from itertools import pairwise

from collections_app.families import ENDINGS, HOSTS, VARIANT, VERSION_POINT

LONGEST = 200

# Makers that some hosts write before a name with a dash or a dot, where others have a folder.
_MAKER = re.compile(
    r"^(?:meta|nvidia|openai|anthropic|google|mistralai|moonshotai|moonshot|microsoft|cohere|amazon|minimax|qwen|zai|z-ai|nous|"
    r"unsloth|bartowski|lmstudio-community|ai21|deepseek-ai|deepseek|writer)(?:\.|-(?=(?:llama|gpt-oss|glm|hermes|nemotron|gemma)))"
)
# Where a size begins after a name or a number ends before a word: gemma3, qwen2.5vl.
_SEAM = re.compile(r"(?<=[a-z]{2})(?=[0-9])|(?<=[0-9])(?=[a-z]{2})")
_SIZE = re.compile(r"(?:[0-9]+x)?[0-9]+(?:\.[0-9]+)?[bm]")
_NUMBER = re.compile(r"[a-z]?[0-9]")
# A version written 4-5 or 3_3 for 4.5 and 3.3.
_DASHED_VERSION = re.compile(r"(?<![0-9.])([0-9])-([0-9])(?=-|$)")
_DATE = re.compile(r"(?:^|-)(?:20[0-9]{2}-[01][0-9]-[0-3][0-9]|20[0-9]{2}[01][0-9][0-3][0-9]|[01][0-9]-20[0-9]{2})(?=-|$)")
# Month and day, or year and month: what tells a checkpoint apart, or, with nothing else that does, a version.
_SHORT_DATE = re.compile(r"-(?:0[1-9]|1[0-2]|2[4-9])(?:[0-2][0-9]|3[01])(?=-|$)")
_QUANT = re.compile(
    r"-(?:i?q[2-8](?:-(?:k|[01]))?(?:-(?:xs|s|m|l|xl))?|(?:bf|fp|f)(?:4|8|16|32)|(?:nv|mx)fp[48]|int[48]|[48]-?bit|w[48]a(?:8|16))"
    r"(?=-|$)"
)
_V = re.compile(r"(?<=-)v(?=[0-9])")
# How much of a mixture answers, which its size says already: 480b-a35b.
_ACTIVE = re.compile(r"a[0-9]+(?:\.[0-9]+)?b")
# What says how it is served or tuned for a chat, and not which it is.
_MANNER = frozenset(
    {
        *("instruct", "it", "hf", "preview", "latest", "versatile", "free", "cloud", "maas", "tee"),
        *("awq", "gptq", "gguf", "mlx"),
    }
)
# Hosts' words beside a size; of a closed model they are its name: grok-4-fast, gpt-4-turbo.
_MANNER_OF_SIZED = frozenset({"chat", "fast", "turbo", "instant"})


@lru_cache(maxsize=16384)
def same(served_id: str) -> str:
    """Return the model itself, wherever it is served: equal for two ids of one model. At most 200 characters."""
    text = served_id[:LONGEST].strip().lower().replace("_", "-")
    while (shorter := HOSTS.sub("", VARIANT.sub("", text))) != text:
        text = shorter
    text = VERSION_POINT.sub(".", ENDINGS.sub("", text)).removesuffix(".gguf").rstrip("/")
    name = _MAKER.sub("", text.rpartition("/")[2].replace(":", "-"))
    name = _SEAM.sub("-", _QUANT.sub("", _DATE.sub("", name)))
    name = _V.sub("", _DASHED_VERSION.sub(r"\1.\2", name))
    dateless = _SHORT_DATE.sub("", name)
    return _without_manner(dateless if _NUMBER.search(dateless) else name) or text


def _without_manner(name: str) -> str:
    words = [word for word in name.split("-") if word]
    if any(_SIZE.fullmatch(word) for word in words):
        words = [word for word in words if word not in _MANNER_OF_SIZED and not _ACTIVE.fullmatch(word)]
    # Of DeepSeek's the version follows, and is what tells them apart.
    before = {word for word, after in pairwise(words) if word == "chat" and after[0].isdigit()}
    return "-".join(word for word in words if word not in _MANNER | before)
