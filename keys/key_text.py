"""A gateway key as text: how one is drawn, told from any other text, and hashed.

Keeps none: the text is shown to whoever makes a key, once, and its hash is what is stored.
"""

import hashlib
import re
import secrets

PREFIX = "bwk_"
RANDOM_BYTES = 32
# As many characters as a key has at least, and room for longer ones.
_WELL_FORMED = re.compile(PREFIX + r"[A-Za-z0-9_-]{32,128}")


def draw_key() -> str:
    """A new key: the prefix and 43 random characters that need no escaping in a URL, a header or a shell."""
    return PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def is_well_formed(text: str) -> bool:
    """Whether a text can be a key at all."""
    return _WELL_FORMED.fullmatch(text) is not None


def digest_of(key: str) -> str:
    """SHA-256 in hexadecimal. No salt and no slow hash: 256 random bits cannot be guessed, and every request looks one up."""
    return hashlib.sha256(key.encode()).hexdigest()
