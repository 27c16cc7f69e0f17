"""The catalog's one door out: what a place lists, fetched within its bytes and its seconds. No prompt passes here.

Knows no source and no row. Keeps no cookie and uses no proxy or .netrc of the environment. Raises SourceError, in words for
people that name the host and nothing else of the URL, and nothing else.
"""

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from time import monotonic
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from django.conf import settings
from django.core.exceptions import ValidationError

from collections_app.catalog.entry import SourceError
from collections_app.catalog.sockets.connections import TimedAdapter, ends_at, seconds_left
from collections_app.catalog.sockets.failures import TRANSPORT_ERRORS, words_for
from collections_app.models.base_url import check_base_url, origin_of

CONNECT_SECONDS = 10.0
READ_AT_MOST = 64 * 1024
MOST_REDIRECTS = 3
REDIRECTS = (301, 302, 303, 307, 308)
# What a listing may be sent as; some that are files say plain text, and some small servers nothing.
LISTING_TYPES = ("application/json", "text/json", "text/plain", "")


class NotReachedError(SourceError):
    """There was no answer, or not the whole of it."""


class StatusError(SourceError):
    """The place answered, and with no listing: `status` says how."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. `key` holds the headers that carry a key, which follow no redirect; `body` is JSON to be posted."""

    url: str
    query: str = ""
    _: KW_ONLY
    largest: int
    seconds: float
    headers: Mapping[str, str] = field(default_factory=dict)
    key: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = None
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The bytes that came, with what makes the next request conditional; `body` is None when nothing has changed since."""

    body: bytes | None
    etag: str = ""
    last_modified: str = ""

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body or b"").hexdigest()


def fetch(request: Request) -> Fetched:
    """Ask once. Raises SourceError; StatusError when it was answered otherwise than with a listing."""
    if not all(value.isascii() and value.isprintable() for value in request.key.values()):
        raise SourceError("the key holds characters that no key has")
    host = urlsplit(request.url).netloc.rpartition("@")[2] or "the source"
    token = ends_at.set(monotonic() + request.seconds)
    try:
        return _fetched(request, host)
    except TRANSPORT_ERRORS as error:
        raise NotReachedError(words_for(error).format(host=host, seconds=request.seconds)) from error
    finally:
        ends_at.reset(token)


def _fetched(request: Request, host: str) -> Fetched:
    url = request.url + (f"?{request.query}" if request.query else "")
    for _ in range(1 + MOST_REDIRECTS):
        _check(url)
        response = _sent(request, url)
        try:
            if response.status_code not in REDIRECTS:
                return _answer(request, response, host)
            url = _redirected(request, url, response.headers.get("Location", ""), host)
        finally:
            response.close()
    raise SourceError(f"{host} redirects in circles")


def _sent(request: Request, url: str) -> requests.Response:
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "gzip",
        # Some gateways refuse the names of HTTP libraries.
        "User-Agent": f"Benchsite/{settings.BENCH_VERSION}",
        "If-None-Match": request.etag,
        "If-Modified-Since": request.last_modified,
        "Content-Type": "application/json" if request.body is not None else "",
        **request.headers,
        **request.key,
    }
    prepared = requests.PreparedRequest()
    prepared.prepare(
        method="GET" if request.body is None else "POST",
        url=url,
        headers={name: value for name, value in headers.items() if value},
        data=request.body,
    )
    return TimedAdapter().send(prepared, stream=True, timeout=(min(CONNECT_SECONDS, seconds_left()), seconds_left()))


def _check(url: str) -> None:
    try:
        check_base_url(url.partition("?")[0])
    except ValidationError as error:
        raise SourceError(f"the URL is not one to be asked: {' '.join(error.messages)}") from error


def _redirected(request: Request, url: str, location: str, host: str) -> str:
    """Where to ask instead: the same host by the same scheme, and with no key on the way."""
    there = urljoin(url, location)
    if request.key or not location or origin_of(there) != origin_of(url):
        why = "which a key is not sent along" if request.key else "and another host is not asked in its place"
        raise SourceError(f"{host} redirects, {why}")
    return there.partition("#")[0]


def _answer(request: Request, response: requests.Response, host: str) -> Fetched:
    if response.status_code == 304 and (request.etag or request.last_modified or request.query):
        return Fetched(None, request.etag, request.last_modified)
    if response.status_code != 200:
        raise StatusError(_refusal(request, response.status_code, host), response.status_code)
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind not in LISTING_TYPES and not kind.endswith("+json"):
        raise SourceError(f"{host} sent {'a web page' if 'html' in kind else _shown(kind)} where a listing should be")
    body = b"".join(_unpacked(request, response, host))
    if body.lstrip()[:1] == b"<":
        raise SourceError(f"{host} sent a web page where a listing should be")
    return Fetched(body, response.headers.get("ETag", "")[:300], response.headers.get("Last-Modified", "")[:100])


def _unpacked(request: Request, response: requests.Response, host: str) -> Iterator[bytes]:
    """Yield the body as it comes, decompressed no further than its largest size."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise SourceError(f"{host} compresses in a way that was not asked for")
    unpack = zlib.decompressobj(wbits=47) if coding not in ("identity", "") else None
    size = packed = 0
    while block := response.raw.read1(READ_AT_MOST, decode_content=False):
        packed += len(block)
        if unpack:
            block = _decompressed(unpack, block, request.largest - size + 1, host)
        size += len(block)
        if max(size, packed) > request.largest:
            raise SourceError(f"{host} sends more than {request.largest:,} bytes")
        yield block
    if unpack and not unpack.eof:
        raise NotReachedError(f"the answer of {host} was cut off")


def _decompressed(unpack: Any, block: bytes, most: int, host: str) -> bytes:
    try:
        return bytes(unpack.decompress(block, most))
    except zlib.error as error:
        raise SourceError(f"the answer of {host} is compressed in a way that cannot be read") from error


def _refusal(request: Request, status: int, host: str) -> str:
    if status in (401, 403):
        return f"{host} answers {status}: " + ("it does not accept the key" if request.key else "it asks for a key")
    if status == 429:
        return f"{host} answers 429: it was asked too often"
    return f"{host} answers {status} where a listing should be"


def _shown(kind: str) -> str:
    return "".join(character for character in kind if character.isalnum() or character in "/.+-")[:60]
