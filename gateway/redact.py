"""The one place where text is made safe to write down: no image, no key, no query string.

Every error, log row, trace and message for people passes through `redact`, prompts and answers through `hide_images`;
`describe_image` is the only form in which an image is ever written. Nothing here reads an image or knows where keys are.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

KEY = "[key]"

# A payload wrapped at 64 or 76 columns goes on over its line ends; in an echoed request they and `/` may be JSON-escaped.
_DATA_URL = re.compile(
    r"data:[\w.+-]{1,40}\\?/[\w.+-]{1,80}(?:;[\w=.+-]{1,60})*,"
    r"(?:\s{0,3}<svg\b[\s\S]*?(?:</svg>|\Z)|(?:[\w+/=%.~-]|\\[/nr])*+(?:\r?\n[A-Za-z0-9+/]{40,}+={0,2})*+(?:\r?\n[A-Za-z0-9+/]+={1,2})?)",
    re.IGNORECASE,
)
# 200 unbroken characters of base64 are an image or a file, whatever surrounds them; a rule of dashes, a hash in hex or a
# gene is not. The look-behind lets a run be tried at its start alone: from every character it would cost the square.
_BASE64_RUN = re.compile(
    r"(?<![\w+/-])(?=[a-z0-9+/_-]*[A-Z])(?=[A-Z0-9+/_-]*[a-z])(?=[A-Za-z+/_-]*\d)[A-Za-z0-9+/_-]{200,}+={0,2}", re.ASCII
)
# The same in lines; a list of SHA-256 sums, which looks alike, is hex throughout.
_BASE64_LINES = re.compile(
    r"(?<![\w+/-])(?=[A-Fa-f0-9]*[G-Zg-z+/])(?:[A-Za-z0-9+/]{60,76}+(?:\r?\n|\\r\\n|\\n)){2,}+[A-Za-z0-9+/]*={0,2}", re.ASCII
)

_URL = re.compile(
    r"\b([a-z][a-z0-9+.-]{1,15}:(?:\\?/){2})"
    r"(?:[^\s/?#'\"<>\\@]*@)*"
    r"((?:[^\s?#'\"<>\\]|\\/)*)"
    r"(\?(?:[^\s'\"<>\\]|\\/|\\u00[0-9a-f]{2})*)?"
    r"(?:#[^\s'\"<>\\]*)?",
    re.IGNORECASE,
)
# Headers as they are echoed: bare, quoted, in a dict or a list.
_HEADER = re.compile(
    r"""\b((?:proxy-)?authorization|x-api-key|x-goog-api-key|api-key|(?:set-)?cookie)(["']?\s*[:=]\s*[\["']*)"""
    r"""(?:(?:bearer|basic|token)\s+)?(?!\[key\])[^\s"',\]}]{4,}""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(bearer\s+)(?=\S*\d|\S{20})[\w.~+/=*-]{8,}", re.IGNORECASE)
# `name=value` and `name: value`; in the second form only where the value cannot be a word.
_NAMED = re.compile(
    r"""\b((?:api|access|auth|secret|private)?[-_ ]?(?:key|token|secret|password)=|"""
    r"""(?:(?:api|access|secret)[-_ ]?key|password|secret)\b["']?(?:\s+\w+){0,2}\s*:\s*["']?(?=\S*[\d*]))"""
    r"""(?!\[)[^\s"'&,;]{6,}""",
    re.IGNORECASE,
)
# The forms that providers give their keys; some echo them half masked.
_KEY = re.compile(
    r"\b(?:sk|pk|rk|bwk|gsk|xai|hf|nvapi|csk|r8|pplx|fw|tgp|ghp|gho|glpat|github_pat)[-_](?=[\w*-]*[\d*])[\w*-]{8,}"
    r"|\bkey[-_](?=[\w-]*\d)[\w-]{16,}"
    r"|\bAIza[\w-]{20,}|\bAQ\.[\w-]{20,}|\bAKIA[0-9A-Z]{12,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
    r"|\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b"
)

LONGEST_IMAGE_URL = 200
SHORTEST_SECRET = 4


def describe_image(url: str) -> str:
    """Return the placeholder for an image: its size when it is inline, else its URL without query or credentials."""
    if url[:5].lower() == "data:":
        return f"[image: data URL, {_kilobytes(url)} KB]"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return "[image: unreadable URL]"
    query = "?..." if parts.query else ""
    return f"[image: {parts.scheme}://{host}{parts.path[:LONGEST_IMAGE_URL]}{query}]"


def hide_images(text: str) -> str:
    """Return `text` with inline images and stray long base64 runs as placeholders; for prompts and answers in the call log."""
    text = _DATA_URL.sub(_describe_data_url, text)
    text = _BASE64_RUN.sub(_describe_base64, text)
    return _BASE64_LINES.sub(_describe_base64, text)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` with images, stray base64, keys, credentials and query strings replaced by placeholders.

    `secrets` are values known to be secret here, such as the key the call was sent with. Give the whole text: of a key
    that was cut in half, half may stay.
    """
    text = hide_secrets(text, secrets)
    text = hide_images(text)
    text = _URL.sub(_plain_url, text)
    text = _HEADER.sub(rf"\1\2{KEY}", text)
    text = _BEARER.sub(rf"\1{KEY}", text)
    text = _NAMED.sub(rf"\1{KEY}", text)
    return _KEY.sub(KEY, text)


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return `text` without these very values, also where they stand in a URL."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, KEY).replace(quote(secret, safe=""), KEY)
    return text


def _plain_url(found: re.Match[str]) -> str:
    start, place, query = found[1], found[2], found[3]
    # The sentence around a URL goes on after it.
    return f"{start}{place}?...{query[-1] if query[-1] in ',;:)' else ''}" if query else f"{start}{place}"


def _describe_data_url(found: re.Match[str]) -> str:
    url = found.group()
    return describe_image(url) if url[5:10].lower() == "image" else f"[data URL, {_kilobytes(url)} KB]"


def _describe_base64(found: re.Match[str]) -> str:
    return f"[base64, {_kilobytes(found.group())} KB]"


def _kilobytes(encoded: str) -> int:
    return max(1, round(len(encoded) * 3 / 4 / 1024))
