"""What a model is proposed as when it is added: an alias that is free, and a role read from its id.

Proposals alone: a person may change both, and nothing here looks at a row.
"""

import re
from collections.abc import Collection as Sized

LONGEST_ALIAS = 64
UNNAMED = "model"
# What an id says of where and on which terms it is served, not of what it is.
VARIANT = re.compile(r":(?:free|beta|extended|nitro|floor|online|exacto|cloud|latest)$")
NOT_OF_AN_ALIAS = re.compile(r"[^a-z0-9._-]+")

CODE = re.compile(r"(?<![a-z])(?:[a-z]*(?<!de)(?<!en)coder\d?|code|codex|codestral|devstral|codellama|codegemma)(?![a-z])")
SIGHT = re.compile(r"(?<![a-z])(?:vl|vision|ocr|omni-vision|multimodal)(?![a-z])")
SMALL = re.compile(r"(?<![a-z])(?:mini|nano|tiny|lite|haiku|instant|smollm\d?)(?![a-z])")
SIZE = re.compile(r"(?<![\d.a-z])(\d{1,4}(?:\.\d{1,2})?)([bm])(?![a-z0-9])")
# Billions of parameters, mixtures by their whole size.
LIGHT_UP_TO = 9.5


def propose_alias(served_id: str, taken: Sized[str], endpoint: str = "") -> str:
    """An alias for what is served under `served_id` that is none of `taken`: its own name, then with the endpoint's."""
    base = alias_of(served_id)
    choices = [base, *([_joined(base, endpoint)] if endpoint else [])]
    for choice in choices:
        if choice not in taken:
            return choice
    number = 2
    while (choice := _joined(choices[-1], str(number))) in taken:
        number += 1
    return choice


def alias_of(served_id: str) -> str:
    """The id's own name as an alias may be written: without folders, variant, and what an alias does not take."""
    text = VARIANT.sub("", served_id.strip().lower())
    name = NOT_OF_AN_ALIAS.sub("-", text.rstrip("/").rpartition("/")[2]).strip("._-")
    return name[:LONGEST_ALIAS].strip("._-") or UNNAMED


def propose_role(served_id: str, *, vision: bool | None = None) -> str:
    """A role by what the id says: code, vision for what is made to see, light for the small, else general."""
    name = served_id.lower().replace("_", "-").rpartition("/")[2]
    if CODE.search(name):
        return "code"
    if SIGHT.search(name) and vision is not False:
        return "vision"
    return "light" if SMALL.search(name) or 0 < _billions(name) <= LIGHT_UP_TO else "general"


def _billions(name: str) -> float:
    """The largest size that the id names: of `30b-a3b` the first; 0 when it names none."""
    sizes = [float(number) / (1 if unit == "b" else 1000) for number, unit in SIZE.findall(name)]
    return max(sizes, default=0)


def _joined(base: str, end: str) -> str:
    return f"{base[: LONGEST_ALIAS - len(end) - 1].rstrip('._-')}-{end}"
