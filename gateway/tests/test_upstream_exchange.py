"""A request leaves byte for byte as requests would send it, and a reply's head is read as http.client reads it."""

import gzip
import http.client
import io
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import requests
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.upstream.sockets.clock import Clock
from gateway.upstream.sockets.connections import TimedAdapter
from gateway.upstream.sockets.exchange import exchange
from gateway.upstream.sockets.headers import read_headers
from gateway.upstream.transport import Reply

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


WORDS = b"word " * 40_000
PACKED = gzip.compress(WORDS)


def with_length(body: bytes, told: int | None = None, more: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\n%bContent-Length: %d\r\n\r\n%b" % (more, len(body) if told is None else told, body)


def in_chunks(body: bytes, more: bytes = b"") -> bytes:
    head = b"HTTP/1.1 200 OK\r\n%bTransfer-Encoding: chunked\r\n\r\n" % more
    pieces = [body[at : at + 7_000] for at in range(0, len(body), 7_000)]
    return head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@contextmanager
def serving(reply: bytes, *, then_closes: bool) -> Iterator[tuple[str, list[int]]]:
    """A server that sends every request on a connection the same; its URL, and how many requests came on each connection."""
    came: list[int] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            came.append(0)
            at = len(came) - 1
            while self.rfile.readline():
                while self.rfile.readline().strip():
                    pass
                assert self.rfile.read(3) == b"{1}"
                came[at] += 1
                self.wfile.write(reply)
                if then_closes:
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", came
        finally:
            server.shutdown()


def read_twice(reply: bytes, *, at_most: int = 10**9, then_closes: bool = False) -> tuple[list[bytes], list[int]]:
    """What two calls one after the other read of a reply, `at_most` so much of it, and the requests on each connection."""
    read = []
    with serving(reply, then_closes=then_closes) as (url, came):
        door = TimedAdapter(pool_connections=1, pool_maxsize=1)
        for _ in range(2):
            clock = Clock(connect=5, first_token=5, total=5)
            with Reply(exchange(door, url, headers=HEADERS, body=b"{1}", clock=clock), host="it", clock=clock) as lent:
                body, ended = b"", True
                for block in lent.blocks():
                    body += block
                    if len(body) >= at_most:
                        ended = False
                        break
                read.append(body)
            # One place, and in it a connection that serves the next call or none.
            [kept] = door.pool("http", "127.0.0.1", int(url.rpartition(":")[2])).pool.queue
            assert (kept is not None and not kept.is_closed) == (ended and not then_closes)
        door.close()
    return read, came


@pytest.mark.parametrize(
    "reply",
    [
        with_length(WORDS),
        in_chunks(WORDS),
        with_length(PACKED, more=b"Content-Encoding: gzip\r\n"),
        in_chunks(PACKED, more=b"Content-Encoding: gzip\r\n"),
    ],
    ids=["its length told", "in chunks", "compressed", "compressed, in chunks"],
)
def test_a_connection_serves_the_next_call_once_its_reply_is_read_to_its_end(reply: bytes) -> None:
    assert read_twice(reply) == ([WORDS, WORDS], [2])


@pytest.mark.parametrize("reply", [with_length(b""), in_chunks(b""), b"HTTP/1.1 204 No Content\r\n\r\n"])
def test_so_it_does_after_a_reply_of_nothing(reply: bytes) -> None:
    assert read_twice(reply) == ([b"", b""], [2])


@pytest.mark.parametrize("reply", [with_length(WORDS), in_chunks(WORDS)], ids=["its length told", "in chunks"])
def test_no_call_reads_the_rest_of_what_another_left(reply: bytes) -> None:
    read, came = read_twice(reply, at_most=1)
    assert [WORDS.startswith(some) and len(some) < len(WORDS) for some in read] == [True, True]
    assert came == [1, 1]


@pytest.mark.parametrize(
    "reply",
    [with_length(WORDS, told=len(WORDS) + 1), in_chunks(WORDS)[:-5], b"HTTP/1.1 200 OK\r\n\r\n" + WORDS],
    ids=["its length told", "in chunks", "to the end of the connection"],
)
def test_a_reply_that_ends_with_its_connection_is_read_as_far_as_it_came(reply: bytes) -> None:
    assert read_twice(reply, then_closes=True) == ([WORDS, WORDS], [1, 1])


@pytest.mark.parametrize("told", [b"Content-Length: 2\r\nContent-Length: 4\r\n", b"Content-Length: 2, 4\r\n"])
def test_a_reply_of_two_lengths_is_none(told: bytes) -> None:
    with pytest.raises(http.client.HTTPException):
        read_twice(b"HTTP/1.1 200 OK\r\n%b\r\nabcd" % told)


@pytest.mark.parametrize(
    "told",
    [
        b"Content-Length: 4\r\nContent-Length: 4\r\n",
        b"Content-Length: 4, 4\r\n",
        b"Content-Length: 4,\r\n",
    ],
)
def test_one_that_tells_its_length_twice_has_it(told: bytes) -> None:
    assert read_twice(b"HTTP/1.1 200 OK\r\n%b\r\nabcd" % told) == ([b"abcd", b"abcd"], [2])
