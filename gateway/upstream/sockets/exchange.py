"""One request over a kept connection: its head and body in one write, then its reply's head.

What requests and urllib3 do here for any request, for the one kind that is sent: theirs took most of a call's processor time.
Their connections, pools, certificates and decoders are used, and what fails raises what they raise.
"""

import errno
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.utils import check_header_validity
from urllib3 import HTTPHeaderDict, HTTPResponse
from urllib3.util import parse_url

from gateway.upstream.sockets.clock import Clock
from gateway.upstream.sockets.connections import READ_AT_MOST, Response, TimedAdapter

# URLs whose parts are kept: an endpoint has one, or one for each of its models.
KEPT_URLS = 512
# A longer body is not copied to be sent in one write with its head.
TOGETHER_AT_MOST = 256 * 1024
PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*")
# A server may have answered before it had read the whole request, and its answer is still to be read. TLS has its own number.
ANSWERED_EARLY = (errno.EPIPE, errno.ECONNRESET, errno.EPROTOTYPE, ssl.SSL_ERROR_EOF)


@dataclass(frozen=True, slots=True)
class Place:
    """A URL in its parts: where to connect, how a request there begins, and the header that its log-in makes, if it has one."""

    scheme: str
    host: str
    port: int
    head: str
    log_in: Mapping[str, str]


class RawReply:
    """A reply whose head has come. Its connection serves another call once its body has been read to its end.

    urllib3's own response told of the same, at a tenth of a call's processor time.
    """

    def __init__(self, response: Response, connection: Any, pool: Any) -> None:
        self.status = response.status
        # Of one that came twice, both values in one.
        self.headers: Mapping[str, str] = HTTPHeaderDict(response.msg.items())
        self._response = response
        self._connection = connection
        self._pool = pool
        # Asked for identity, some compress nevertheless.
        is_plain = self.headers.get("Content-Encoding", "identity") == "identity"
        self._body = response if is_plain else _decoded(response, self.headers)

    def read(self) -> bytes:
        """Read what has come of the body, at least a byte until it ends. Raises what TRANSPORT_ERRORS lists."""
        try:
            block = self._body.read1(READ_AT_MOST)
        except BaseException:
            self.close()
            raise
        if not block and self._response.is_whole:
            self._give_back()
        elif not block:
            self.close()
        return block

    def _give_back(self) -> None:
        if self._connection:
            self._response.close()
            self._pool._put_conn(self._connection)
            self._connection = None

    def close(self) -> None:
        """Close the connection of a body that was not read to its end."""
        if self._connection:
            self._response.close()
            give_up(self._connection, self._pool)
            self._connection = None


def exchange(door: TimedAdapter, url: str, *, headers: Mapping[str, str], body: bytes, clock: Clock) -> RawReply:
    """Send one POST and read its reply's head. Raises what TRANSPORT_ERRORS lists."""
    place = place_of(url)
    head = place.head + _lines({**headers, "Content-Length": str(len(body)), **place.log_in})
    pool = door.pool(place.scheme, place.host, place.port)
    connection: Any = pool._get_conn()
    try:
        connection.serve(clock)
        _send(connection, head.encode("latin-1"), body)
        clock.sent()
        return RawReply(connection.answer(), connection, pool)
    except BaseException:
        give_up(connection, pool)
        raise


def give_up(connection: Any, pool: Any) -> None:
    """Close a connection that can serve no other call."""
    connection.close()
    # In its place: a pool hands out as many as are put back.
    pool._put_conn(None)


def _decoded(response: Response, headers: Mapping[str, str]) -> HTTPResponse:
    return HTTPResponse(
        body=response,
        headers=headers,
        status=response.status,
        preload_content=False,
        original_response=response,
        request_method="POST",
    )


@lru_cache(maxsize=KEPT_URLS)
def place_of(url: str) -> Place:
    """The URL as requests reads it. Raises RequestException or ValueError for one that is none."""
    prepared = requests.PreparedRequest()
    prepared.prepare(method="POST", url=url)
    parts = urlsplit(prepared.url or "")
    scheme, host = parts.scheme.lower(), parts.hostname
    if scheme not in PORTS or not host:
        raise requests.exceptions.InvalidSchema("no URL that can be called")
    port = parts.port or PORTS[scheme]
    named = f"[{host.partition('%')[0]}]" if ":" in host else host.rstrip(".")
    if port != PORTS[scheme]:
        named = f"{named}:{port}"
    log_in = {name: value for name, value in prepared.headers.items() if name == "Authorization"}
    target = parse_url(prepared.url or "").request_uri
    return Place(scheme, host, port, f"POST {target} HTTP/1.1\r\nHost: {named}\r\n", log_in)


def _lines(headers: Mapping[str, str]) -> str:
    """Raises InvalidHeader for what would end its line."""
    for header in headers.items():
        # What is plain words, as nearly every header is, needs no closer look.
        if not _PLAIN.fullmatch(header[1]):
            check_header_validity(header)
    return "".join([f"{name}: {value}\r\n" for name, value in headers.items()]) + "\r\n"


def _send(connection: Any, head: bytes, body: bytes) -> None:
    try:
        if len(head) + len(body) <= TOGETHER_AT_MOST:
            connection.send_all(head + body)
        else:
            connection.send_all(head)
            connection.send_all(body)
    except OSError as error:
        if error.errno not in ANSWERED_EARLY:
            raise
