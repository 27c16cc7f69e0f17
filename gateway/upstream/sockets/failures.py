"""A failed connection as an UpstreamError: what happened, in words for people, naming the host and nothing else of the URL.

Reads the libraries' exceptions as rows; their own texts, which hold addresses, queries and Python's names, go nowhere.
"""

import http.client
import re
import socket
import ssl
from collections.abc import Iterator

import requests
from urllib3 import exceptions as urllib3

from gateway.upstream.contract import ErrorKind, UpstreamError
from gateway.upstream.sockets.clock import Clock

# All that requests, urllib3, http.client, ssl and sockets raise; ValueError is how they refuse URLs and broken chunks.
TRANSPORT_ERRORS = (requests.RequestException, urllib3.HTTPError, http.client.HTTPException, OSError, ValueError)

NO_URL = (
    requests.exceptions.InvalidURL,
    requests.exceptions.MissingSchema,
    requests.exceptions.InvalidSchema,
    urllib3.LocationValueError,
    UnicodeError,
)

Rows = tuple[tuple[tuple[type[BaseException], ...], ErrorKind, str], ...]

# The first row that fits any link of the chain. `{host}` and `{why}` are filled in.
ROWS: Rows = (
    ((urllib3.NameResolutionError, socket.gaierror), "unavailable", "no address was found for {host}"),
    ((ConnectionRefusedError,), "unavailable", "{host} refused the connection"),
    # The timeout of connecting has it for a parent, and a network without a way is no timeout.
    ((urllib3.NewConnectionError,), "unavailable", "{host} cannot be reached: {why}"),
    ((ssl.SSLCertVerificationError,), "unavailable", "the certificate of {host} is not to be trusted: {why}"),
    ((ssl.SSLError, requests.exceptions.SSLError), "unavailable", "no secure connection to {host}: {why}"),
    ((TimeoutError, urllib3.TimeoutError), "timeout", "{host}: {timeout}"),
    ((http.client.RemoteDisconnected,), "unavailable", "{host} closed the connection without an answer"),
    ((ConnectionError,), "unavailable", "{host} broke the connection off"),
    ((urllib3.DecodeError,), "bad_reply", "the answer of {host} is compressed in a way that cannot be read"),
    ((requests.exceptions.InvalidHeader,), "unauthorized", "the key cannot be sent: it holds characters that no header may"),
    (NO_URL, "unavailable", "the endpoint's base URL is not a URL that can be called"),
    ((http.client.HTTPException, urllib3.ProtocolError, ValueError), "bad_reply", "{host} does not answer in HTTP"),
    ((OSError,), "unavailable", "{host} cannot be reached: {why}"),
)


_PLACE = re.compile(r" \(_ssl\.c:\d+\)$")


def failure(error: BaseException, *, host: str, clock: Clock) -> UpstreamError:
    """The failed call as an UpstreamError."""
    links = list(chain(error))
    for types, kind, words in ROWS:
        if any(isinstance(link, types) for link in links):
            return UpstreamError(words.format(host=host, why=_why(links), timeout=clock.why()), kind=kind)
    return UpstreamError(f"the connection to {host} failed", kind="unavailable")


def cut_off(error: BaseException) -> bool:
    """Whether the body just ended where more was to come, the connection having been closed in good order."""
    return any(isinstance(link, http.client.IncompleteRead) for link in chain(error))


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what lies under it, by whichever of the ways that the libraries wrap one."""
    seen: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        link = waiting.pop(0)
        if isinstance(link, BaseException) and not any(link is known for known in seen):
            seen.append(link)
            yield link
            waiting += [*link.args, getattr(link, "reason", None), link.__cause__, link.__context__]


def _why(links: list[BaseException]) -> str:
    """The system's own words for it, which name no address."""
    for link in links:
        if isinstance(link, ssl.SSLCertVerificationError):
            return link.verify_message
        if isinstance(link, ssl.SSLError) and link.reason:
            return link.reason.replace("_", " ").lower()
        if isinstance(link, OSError) and link.strerror:
            # OpenSSL's place in its own source is no help.
            return _PLACE.sub("", link.strerror).lower()
    return "it failed"
