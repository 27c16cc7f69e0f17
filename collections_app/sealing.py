"""A provider's key, sealed: encrypted under this bench's secret, together with the host that it may be sent to.

Values in, values out: knows no row and no file.
"""

import base64
import json
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PURPOSE = b"benchsite: providers' keys at rest"


class UnsealError(Exception):
    """A sealed key is not given out: in words for a person."""


class OtherHostError(UnsealError):
    """It was sealed for another host."""


def seal(key: str, *, host: str, secrets: Sequence[str]) -> str:
    """Encrypt `key` for `host`, under the first of `secrets`."""
    return _box(secrets).encrypt(json.dumps({"host": host, "key": key}).encode()).decode()


def unseal(sealed: str, *, host: str, secrets: Sequence[str]) -> str:
    """Return the key. Raises UnsealError when it was sealed under none of `secrets` or was altered, OtherHostError."""
    content = json.loads(_opened(sealed, secrets))
    if content["host"] != host:
        raise OtherHostError(f"was typed for {content['host']} and is sent nowhere else")
    return str(content["key"])


def reseal(sealed: str, *, secrets: Sequence[str]) -> str:
    """Encrypt the same key for the same host under the first of `secrets`. Raises UnsealError."""
    return _box(secrets).encrypt(_opened(sealed, secrets)).decode()


def _opened(sealed: str, secrets: Sequence[str]) -> bytes:
    token = sealed.encode("utf-8", "surrogatepass")
    try:
        # Decoding passes over what is no base64, and over bits that are left at the end: text so altered would still open.
        if base64.urlsafe_b64encode(base64.urlsafe_b64decode(token)) == token:
            return _box(secrets).decrypt(token)
    except (InvalidToken, ValueError):
        pass
    raise UnsealError("it was encrypted under another secret than the data folder's file holds, or was altered since")


def _box(secrets: Sequence[str]) -> MultiFernet:
    return MultiFernet([Fernet(base64.urlsafe_b64encode(_derived(secret))) for secret in secrets])


def _derived(secret: str) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
