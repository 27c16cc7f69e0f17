"""The one place where text is made safe to write down: no image, no key, no query string.

Every error, log row, trace and message for people passes through `redact`, prompts and answers through `hide_images`;
`describe_image` is the only form in which an image is ever written. Nothing here reads an image or knows where keys are.
"""

import re
from collections.abc import Iterable, Mapping, Set
from functools import partial
from urllib.parse import quote, urlsplit

KEY = "[key]"

# Every pattern costs no more than its text is long, whatever that is: nothing is scanned again from each of its places.
# A payload wrapped at 64 or 76 columns goes on over its line ends; in an echoed request they and `/` may be JSON-escaped.
# Begins with the colon, a character that a search finds fast.
_DATA_URL = re.compile(
    r":(?<=data:)[\w.+-]{1,40}+\\?/[\w.+-]{1,80}+(?:;[\w=.+-]{1,60}+)*+,"
    r"(?:\s{0,3}+<svg\b[\s\S]*?(?:</svg>|\Z)|(?:[\w+/=%.~-]++|\\[/nr])*+(?:\r?\n[A-Za-z0-9+/]{40,}+={0,2})*+(?:\r?\n[A-Za-z0-9+/]+={1,2})?)",
    re.IGNORECASE,
)
# 200 unbroken characters of base64 are an image or a file, whatever surrounds them; a rule of dashes, a hash in hex or a
# gene is not. The look-behind lets a run be tried at its start alone: from every character it would cost the square.
_BASE64_RUN = re.compile(
    r"(?<![\w+/-])(?=[a-z0-9+/_-]*+[A-Z])(?=[A-Z0-9+/_-]*+[a-z])(?=[A-Za-z+/_-]*+\d)[A-Za-z0-9+/_-]{200,}+={0,2}", re.ASCII
)
# The same in lines; a list of SHA-256 sums, which looks alike, is hex throughout.
_BASE64_LINES = re.compile(
    r"(?<![\w+/-])(?=[A-Fa-f0-9]*+[G-Zg-z+/])(?:[A-Za-z0-9+/]{60,76}+(?:\r?\n|\\r\\n|\\n)){2,}+[A-Za-z0-9+/]*+={0,2}", re.ASCII
)
# Where either may begin, in a text in which every character of base64 has become an A: a search for a word is faster than
# any for a class.
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_AS_RUNS = bytes(ord("A") if byte in _BASE64 else ord(" ") for byte in range(256))
_SHORTEST_RUN = b"A" * 60
_RUN = re.compile(_SHORTEST_RUN + b"A*+")

_URL = re.compile(
    r"\b([a-z][a-z0-9+.-]{1,15}+:(?:\\?/){2})"
    r"(?:[^\s/?#'\"<>\\@]*+@)*+"
    r"((?:[^\s?#'\"<>\\]|\\/)*+)"
    r"(\?(?:[^\s'\"<>\\]|\\/|\\u00[0-9a-f]{2})*+)?"
    r"(?:#[^\s'\"<>\\]*+)?",
    re.IGNORECASE,
)
# Headers as they are echoed: bare, quoted, in a dict or a list.
_HEADER = re.compile(
    r"""\b((?:proxy-)?authorization|x-api-key|x-goog-api-key|api-key|(?:set-)?cookie)(["']?\s*+[:=]\s*+[\["']*)"""
    r"""(?:(?:bearer|basic|token)\s+)?(?!\[key\])[^\s"',\]}]{4,}+""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(bearer\s++)(?=[^\s\d]*+\d|\S{20})[\w.~+/=*-]{8,}+", re.IGNORECASE)
# `name=value` and `name: value`; in the second form only where the value cannot be a word. Looked for no further than its
# third colon, or a row of names would be read again from each.
_NAMED = re.compile(
    r"""\b((?:api|access|auth|secret|private)?[-_ ]?(?:key|token|secret|password)=|"""
    r"""(?:(?:api|access|secret)[-_ ]?key|password|secret)\b["']?(?:\s++\w++){0,2}+\s*+:\s*+["']?"""
    r"""(?=(?:[^\s:\d*]*+:){0,3}+[^\s:\d*]*+[\d*]))"""
    r"""(?!\[)[^\s"'&,;]{6,}+""",
    re.IGNORECASE,
)
# The forms that providers give their keys; some echo them half masked. What a name of many words has as well, a digit
# or a mask, is looked for in what was found: looked for ahead, it would be so from each of the name's words.
_KEY_FORMS = re.compile(r"\bAIza[\w-]{20,}+|\bAQ\.[\w-]{20,}+|\bAKIA[0-9A-Z]{12,}+|\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b")
_JSON_TOKEN = re.compile(r"\beyJ[\w-]{8,}+(\.[\w-]{8,}+(?:\.[\w-]*+)?)?")
_KEY = re.compile(r"\b(?:sk|pk|rk|bwk|gsk|xai|hf|nvapi|csk|r8|pplx|fw|tgp|ghp|gho|glpat|github_pat)[-_]([\w*-]{8,}+)")
_PLAIN_KEY = re.compile(r"\bkey[-_]([\w-]{16,}+)")
_LAST_WORD = re.compile(r"\s\S*+\Z")
_DIGIT_OR_MASK = re.compile(r"[\d*]")
# A URL as it is echoed: its place and the rest, of which a signature is part.
_WEB_URL = re.compile(
    r"\b(https?:(?:\\?/){2})((?:[^\s\"'<>?#\\]|\\/)*+)([?#](?:[^\s\"'<>\\]|\\/|\\u00[0-9a-f]{2})*+)?", re.IGNORECASE
)

LONGEST_IMAGE_URL = 200
SHORTEST_SECRET = 4
# A shorter word of letters alone, as most names of what ended an answer are, fits no pattern here.
SHORTEST_KEY_WORD = 16
SHORTEST_BASE64 = 200
# What a sentence or Markdown puts after a URL.
AFTER_A_URL = ")]}.,;:!*_`"

# A refusal repeats the start of a path or a name; more of it is not even read.
_LONGEST_READ = 2_000
_LONGEST_QUOTED = 100


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


def hide_images(text: str, urls: Iterable[str] = ()) -> str:
    """Return `text` with inline images and stray long base64 runs as placeholders; for prompts and answers in the call log.

    `urls` are the addresses of the request's own images: wherever one is repeated, its placeholder stands.
    """
    if not text:
        return text
    text = _without_base64(_without_data_urls(text))
    own = [(*_place(found), describe_image(url)) for url in urls if (found := _WEB_URL.match(url))]
    images = {place: placeholder for _, place, placeholder in own}
    logins = {login for login, _, _ in own if login}
    return _WEB_URL.sub(partial(_own_image, images, logins), text) if own else text


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` with images, stray base64, keys, credentials and query strings replaced by placeholders.

    `secrets` are values known to be secret here, such as the key the call was sent with. Give the whole text: of a key
    that was cut in half, half may stay.
    """
    if not text:
        return text
    text = hide_secrets(text, secrets)
    if len(text) < SHORTEST_KEY_WORD and text.isalpha():
        return text
    text = hide_images(text)
    text = _URL.sub(_plain_url, text)
    text = _HEADER.sub(rf"\1\2{KEY}", text)
    text = _BEARER.sub(rf"\1{KEY}", text)
    text = _NAMED.sub(rf"\1{KEY}", text)
    text = _KEY_FORMS.sub(KEY, text)
    text = _JSON_TOKEN.sub(lambda found: KEY if found[1] else found[0], text)
    text = _KEY.sub(lambda found: KEY if _DIGIT_OR_MASK.search(found[1]) else found[0], text)
    return _PLAIN_KEY.sub(lambda found: KEY if _DIGIT_OR_MASK.search(found[1]) else found[0], text)


def quoted(text: str) -> str:
    """Return what a refusal may repeat of a caller's own words: a hundred characters, without what looks like a key."""
    return redact(beginning(text, _LONGEST_READ))[:_LONGEST_QUOTED]


def beginning(text: str, longest: int) -> str:
    """Return the start of a text too long to be redacted whole: cut between words, for of a key cut in half, half may stay."""
    if len(text) <= longest:
        return text
    return _LAST_WORD.sub("", hide_images(text)[:longest])


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


def _without_data_urls(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for found in _DATA_URL.finditer(text):
        start = max(end, found.start() - len("data"))
        pieces += (text[end:start], _describe_data_url(text[start : found.end()]))
        end = found.end()
    return "".join([*pieces, text[end:]]) if pieces else text


def _without_base64(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for run in _RUN.finditer(text.encode("ascii", "replace").translate(_AS_RUNS)):
        start = run.start()
        pattern = _BASE64_RUN if run.end() - start >= SHORTEST_BASE64 else _BASE64_LINES
        found = pattern.match(text, start) if start >= end else None
        if found:
            pieces += (text[end:start], f"[base64, {_kilobytes(found.group())} KB]")
            end = found.end()
    return "".join([*pieces, text[end:]]) if pieces else text


def _own_image(images: Mapping[str, str], logins: Set[str], found: re.Match[str]) -> str:
    """The placeholder of a URL that is one of the request's images, or the URL as it is, without a log-in of theirs."""
    login, place = _place(found)
    if place in images:
        return images[place]
    bare = place.rstrip(AFTER_A_URL)
    if bare in images and not found[3]:
        return images[bare] + place[len(bare) :]
    return found[0].replace(f"{login}@", "", 1) if login in logins else found[0]


def _place(found: re.Match[str]) -> tuple[str, str]:
    """A URL's log-in, and its host and path in lower case."""
    host, slash, path = found[2].replace("\\/", "/").partition("/")
    login, _, host = host.rpartition("@")
    return login, f"{host}{slash}{path}".lower()


def _describe_data_url(url: str) -> str:
    return describe_image(url) if url[5:10].lower() == "image" else f"[data URL, {_kilobytes(url)} KB]"


def _kilobytes(encoded: str) -> int:
    return max(1, round(len(encoded) * 3 / 4 / 1024))
