"""A request leaves byte for byte as requests would send it, and a reply's head is read as http.client reads it."""

import http.client
import io
import socket
import threading
from collections.abc import Callable

import pytest
import requests
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.upstream.sockets.clock import Clock
from gateway.upstream.sockets.connections import TimedAdapter
from gateway.upstream.sockets.exchange import exchange
from gateway.upstream.sockets.headers import read_headers

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Two: a\r\nx-two: b\r\n\r\n{}"
HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "Benchsite", "x-api-key": "k"}


def heard(send: Callable[[int], None], answer_with: bytes = ANSWER) -> bytes:
    """What one caller of a server on a free port sends to it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        received = bytearray()

        def answer() -> None:
            with server.accept()[0] as caller:
                while not received.endswith(b"{1}"):
                    received.extend(caller.recv(65_536))
                caller.sendall(answer_with)

        answering = threading.Thread(target=answer)
        answering.start()
        port = server.getsockname()[1]
        send(port)
        answering.join()
        return bytes(received).replace(b":%d" % port, b":PORT")


def by_requests(url: str) -> Callable[[int], None]:
    def send(port: int) -> None:
        with requests.Session() as session:
            session.trust_env = False
            request = requests.Request("POST", url.format(port=port), headers=HEADERS, data=b"{1}").prepare()
            assert session.send(request).content == b"{}"

    return send


def by_exchange(url: str) -> Callable[[int], None]:
    def send(port: int) -> None:
        clock = Clock(connect=5, first_token=5, total=5)
        door = TimedAdapter(pool_connections=1, pool_maxsize=1)
        reply = exchange(door, url.format(port=port), headers=HEADERS, body=b"{1}", clock=clock)
        assert (reply.read(), reply.headers["X-TWO"]) == (b"{}", "a, b")
        door.close()

    return send


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/v1/chat/completions",
        "http://127.0.0.1:{port}",
        "HTTP://LOCALHOST:{port}/v1/../models/a b%2fc:do?key=ü&x=%zz#there",
        "http://someone:s%20ecret@127.0.0.1:{port}/v1",
    ],
)
def test_a_request_leaves_as_requests_would_send_it(url: str) -> None:
    assert heard(by_exchange(url)) == heard(by_requests(url))


def test_what_comes_before_an_answer_is_not_the_answer() -> None:
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-Two: c\r\n\r\n"
    assert heard(by_exchange("http://127.0.0.1:{port}"), early + ANSWER).startswith(b"POST / ")


LINES = st.lists(
    st.one_of(
        st.from_regex(rb"\A[A-Za-z-]{1,8}: {0,2}[a-z =;,]{0,12}(\r\n|\n)\Z"),
        st.binary(min_size=1, max_size=12).map(lambda line: line.replace(b"\n", b"") + b"\r\n"),
    ),
    max_size=6,
)


@example([b"A: 1\rB: 2\r\n", b"C: 3\r\n"], b"\r\n")
@given(LINES, st.sampled_from([b"\r\n", b"\n", b""]))
def test_a_head_is_read_as_by_http_client(lines: list[bytes], end: bytes) -> None:
    head = b"".join(lines) + end + b"body"
    ours, theirs = io.BytesIO(head), io.BytesIO(head)
    assert read_headers(ours).items() == http.client.parse_headers(theirs).items()
    assert ours.read() == theirs.read()
