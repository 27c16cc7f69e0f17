"""What travels by Redis, sealed under the bench's secret: Redis, its files and whoever reads them hold nothing of a request.

And nobody who can write into Redis can have a worker send a key anywhere: what does not open is not acted on.
"""

import os
from functools import cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"benchsite: seats between processes"
NONCE_BYTES = 12


class SealError(Exception):
    """It was sealed under another secret, for another use, or altered since."""


def seal(content: bytes, use: str) -> bytes:
    """Encrypt `content` so that it opens for this use alone."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + _box(settings.SECRET_KEY).encrypt(nonce, content, use.encode())


def unseal(sealed: bytes, use: str) -> bytes:
    """Return the content. Raises SealError."""
    nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
    try:
        return _box(settings.SECRET_KEY).decrypt(nonce, rest, use.encode())
    except (InvalidTag, ValueError):
        raise SealError(f"a {use} that was sealed under another secret than this process has, or was altered") from None


@cache
def _box(secret: str) -> AESGCM:
    return AESGCM(HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode()))
