"""How a connection failed, in words for people that name the host and nothing else of the URL.

Reads the libraries' exceptions as rows; their own texts, which hold addresses, queries and Python's names, go nowhere.
"""

import http.client
import ssl

import requests
from urllib3 import exceptions as urllib3

# All that requests, urllib3, http.client, ssl and sockets raise; ValueError is how they refuse URLs and broken chunks.
TRANSPORT_ERRORS = (requests.RequestException, urllib3.HTTPError, http.client.HTTPException, OSError, ValueError)

ROWS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((urllib3.NameResolutionError,), "no address was found for {host}"),
    ((ConnectionRefusedError,), "{host} refused the connection"),
    ((ssl.SSLCertVerificationError,), "the certificate of {host} is not to be trusted"),
    ((ssl.SSLError, requests.exceptions.SSLError), "no secure connection to {host}"),
    ((TimeoutError, urllib3.TimeoutError), "{host} did not answer in whole within {seconds:.2g} s"),
    ((http.client.IncompleteRead,), "the answer of {host} was cut off"),
)


def words_for(error: BaseException) -> str:
    """What happened; `{host}` and `{seconds}` are to be filled in."""
    seen: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        link = waiting.pop(0)
        if isinstance(link, BaseException) and not any(link is known for known in seen):
            seen.append(link)
            waiting += [*link.args, getattr(link, "reason", None), link.__cause__, link.__context__]
    for types, words in ROWS:
        if any(isinstance(link, types) for link in seen):
            return words
    return "{host} cannot be reached, or broke off"
