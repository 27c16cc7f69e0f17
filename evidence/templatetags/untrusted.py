"""Untrusted text on a page: what would hide or reorder it is made visible; the template engine escapes the rest."""

import re
from typing import Any

from django import template

register = template.Library()

# Controls but tab and line ends, marks that reorder what follows them, and characters that take no room.
_HIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]")


@register.filter
def visible(text: Any) -> str:
    """Return `text` with every control and reordering character spelt out: [U+202E]."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", str(text))
