"""The one place where text is made safe to write down: no image, no key, no query string.

Every error, log row, trace and message for people passes through `redact`; `describe_image` is the only form
in which an image is ever written.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_DATA_URL = re.compile(r"data:image/[\w.+-]{1,40}(?:;[\w=.+-]{1,60})*,[A-Za-z0-9+/=_%-]*", re.IGNORECASE)
_WEB_URL = re.compile(r"(https?://)([^\s/?#'\"<>\\]*@)?([^\s?#'\"<>\\]+)(\?[^\s'\"<>\\]*)?(#[^\s'\"<>\\]*)?")
# 200 characters of unbroken base64 are an image or a file, whatever surrounds them; prose and hashes are shorter.
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")
_KEY = re.compile(r"\b(?:sk|pk|rk|bwk|gsk|key|xai|hf|nvapi|AIza|csk|r8)[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}")
_BEARER = re.compile(r"(?i)\b(bearer|x-api-key|x-goog-api-key|authorization)(\s*[:=]\s*|\s+)(?!\[)\S{8,}")


def describe_image(url: str) -> str:
    """Return the placeholder for an image: its size when it is inline, else its URL without query or credentials."""
    if url[:5].lower() == "data:":
        kilobytes = max(1, round(len(url) * 3 / 4 / 1024))
        return f"[image: data URL, {kilobytes} KB]"
    parts = urlsplit(url)
    query = "?..." if parts.query else ""
    return f"[image: {parts.scheme}://{parts.hostname or ''}{parts.path}{query}]"


def hide_images(text: str) -> str:
    """Return `text` with inline images and stray long base64 runs as placeholders; for prompts and answers in the call log."""
    text = _DATA_URL.sub(lambda found: describe_image(found.group()), text)
    return _BASE64_RUN.sub(lambda found: f"[base64, {max(1, round(len(found.group()) * 3 / 4 / 1024))} KB]", text)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` with images, stray base64, keys, credentials and query strings replaced by placeholders.

    `secrets` are values known to be secret here, such as the key the call was sent with.
    """
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "[key]")
    text = hide_images(text)
    text = _WEB_URL.sub(lambda found: f"{found[1]}{found[3]}{'?...' if found[4] else ''}", text)
    text = _BEARER.sub(r"\1\2[key]", text)
    return _KEY.sub("[key]", text)
