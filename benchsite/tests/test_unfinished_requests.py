"""Requests that do not end, or end as nobody would expect, and replies that nobody reads: bounded in time and memory."""

import socket
import time
from contextlib import closing
from pathlib import Path

import pytest
from daphne.http_protocol import HTTPFactory
from daphne.server import Server
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from benchsite.http import channel as http_channel
from benchsite.http.channel import BenchChannel
from benchsite.http.request import BenchRequest
from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import RunningServer, running_server

HEAD = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def small_server(loud_upstream, tmp_path_factory):
    """A server that takes bodies of 1 MB, so that eight of them are soon sent."""
    bench = bench_file(loud_upstream.url, {"fast": {"model": "say-done"}}, {"core": ["fast"]})
    with running_server(tmp_path_factory.mktemp("small"), bench, BENCH_MAX_BODY_BYTES="1000000") as server:
        yield server


def connect(server: RunningServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def send(server: RunningServer, head: str, body: bytes = b"") -> socket.socket:
    connection = connect(server)
    connection.sendall((HEAD.format(port=server.port) + head + "\r\n").encode() + body)
    return connection


def said(connection: socket.socket) -> bytes:
    """What comes until the server hangs up."""
    with closing(connection):
        return b"".join(iter(lambda: connection.recv(65536), b""))


def resident_bytes(server: RunningServer) -> int:
    assert server.process
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


def test_bodies_that_never_end_are_held_up_to_a_bound_and_the_oldest_gives_way(small_server):
    before = resident_bytes(small_server)
    half = [send(small_server, "Content-Length: 990000\r\n", b" " * 980_000) for _ in range(60)]
    assert small_server.chat("bench/core").status == 200
    first = said(half[0])
    assert first.startswith(b"HTTP/1.1 503") and b"Retry-After: 1" in first and b"Too many long bodies" in first
    assert resident_bytes(small_server) - before < 30_000_000
    with closing(half[-1]) as last:
        last.sendall(b" " * 10_000)
        assert last.recv(65536).startswith(b"HTTP/1.1 400")
    for connection in half[1:-1]:
        connection.close()
    assert small_server.chat("bench/core").status == 200


def test_a_body_far_over_the_cap_is_not_read(small_server):
    announced = said(send(small_server, "Content-Length: 10000000000\r\n"))
    assert announced.startswith(b"HTTP/1.1 413") and b"1,000,000 bytes is the most" in announced
    piece = b"%x\r\n%b\r\n" % (100_000, b" " * 100_000)
    with closing(send(small_server, "Transfer-Encoding: chunked\r\n")) as connection, pytest.raises(OSError):
        for _ in range(10_000):
            connection.sendall(piece)
    assert small_server.chat("bench/core").status == 200


def test_a_body_over_the_cap_by_as_much_again_is_read_and_told_so_in_its_formats_words(small_server):
    reply = said(send(small_server, "Content-Length: 2000000\r\nConnection: close\r\n", b" " * 2_000_000))
    assert reply.startswith(b"HTTP/1.1 413") and b"shorten the prompt" in reply


@pytest.mark.parametrize(
    "encoding",
    [
        "identity",
        "chunked\r\nTransfer-Encoding: identity",
        "identity\r\nTransfer-Encoding: chunked",
        "gzip",
        "chunked, chunked",
    ],
)
def test_a_transfer_encoding_that_two_servers_could_read_in_two_ways_is_refused(small_server, encoding):
    connection = send(
        small_server, f"Content-Length: 0\r\nTransfer-Encoding: {encoding}\r\n", b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    )
    answer = said(connection)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1


def test_one_chunked_body_is_read(small_server):
    body = b'{"model": "bench/core", "messages": [{"role": "user", "content": "Go."}]}'
    connection = send(small_server, "Transfer-Encoding: chunked\r\n", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
    with closing(connection):
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_replies_that_are_not_read_hold_up_the_requests_behind_them(small_server):
    page = f"GET /static/unfold/css/styles.css HTTP/1.1\r\nHost: 127.0.0.1:{small_server.port}\r\n\r\n".encode()
    before = resident_bytes(small_server)
    with closing(connect(small_server)) as connection:
        for _ in range(100):
            connection.sendall(page)
            time.sleep(0.02)
        assert resident_bytes(small_server) - before < 15_000_000
        connection.sendall(page.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert b"".join(iter(lambda: connection.recv(1 << 20), b"")).count(b"HTTP/1.1 200 OK") == 101
    assert small_server.chat("bench/core").status == 200


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand, for the deadlines and for what is measured against them."""
    clock = Clock()
    monkeypatch.setattr(http_channel, "monotonic", clock.seconds)
    return clock


class UnreadTransport(StringTransport):
    """A connection whose other end reads nothing: whatever is written stays."""

    offset = _tempDataLen = 0  # noqa: N815 (Twisted's name)
    disconnected = False

    @property
    def dataBuffer(self) -> bytes:  # noqa: N802 (Twisted's name)
        return self.value()

    def unregisterProducer(self) -> None:  # noqa: N802 (Twisted's name)
        # As a real connection takes it: a second time too.
        self.producer = None


@pytest.fixture
def channel(clock):
    channel = BenchChannel()
    channel.requestFactory, channel.callLater, channel.timeOut = BenchRequest, clock.callLater, 60
    daphne = Server(application=None, endpoints=["tcp:0"], signal_handlers=False)
    daphne.connections = {}
    channel.factory = HTTPFactory(daphne)
    channel.makeConnection(UnreadTransport())
    yield channel
    channel.setTimeout(None)


def drip(channel: BenchChannel, clock: Clock, text: bytes, *, every: float) -> None:
    for byte in text:
        if channel.transport.disconnecting:
            return
        channel.dataReceived(bytes([byte]))
        clock.advance(every)


def test_headers_that_drip_are_given_up_after_a_minute_in_all(channel, clock):
    drip(channel, clock, b"GET / HTTP/1.1\r\nX-Slow: " + b"a" * 100, every=2)
    assert channel.transport.disconnecting
    assert channel.transport.value().startswith(b"HTTP/1.1 408")
    assert 60 <= clock.seconds() <= 62


def test_a_body_that_drips_is_given_up_though_bytes_keep_coming(channel, clock):
    channel.dataReceived(b"POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n")
    drip(channel, clock, b"a" * 1000, every=5)
    assert channel.transport.value().startswith(b"HTTP/1.1 408")
    assert b"too slowly" in channel.transport.value()
    assert 60 <= clock.seconds() <= 70


def test_a_long_body_over_a_slow_line_has_its_time(channel, clock):
    channel.dataReceived(b"POST / HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n")
    for _ in range(80):
        channel.dataReceived(b"a" * 100_000)
        clock.advance(5)
    assert not channel.transport.disconnecting
    assert clock.seconds() == 400


def test_a_connection_that_says_nothing_is_closed_without_a_word(channel, clock):
    clock.advance(61)
    assert channel.transport.disconnecting
    assert channel.transport.value() == b""


REFUSED_AT_ONCE = b"GET /\xa0 HTTP/1.1\r\n"


@pytest.mark.parametrize("end", [b"\r\n", b"Connection: close\r\n\r\n"])
def test_a_reply_that_nobody_reads_is_given_up(channel, clock, end):
    channel.dataReceived(REFUSED_AT_ONCE + end)
    assert channel.transport.value().startswith(b"HTTP/1.1 400")
    channel.dataReceived(b"GET /")
    clock.advance(50)
    channel.dataReceived(b"again")
    assert not channel.transport.disconnected
    clock.advance(11)
    clock.advance(16)
    assert channel.transport.disconnected


def test_a_long_reply_over_a_slow_line_has_its_time(channel, clock):
    channel.transport.write(b"a" * 8_000_000)
    channel.dataReceived(REFUSED_AT_ONCE + b"\r\n")
    clock.advance(400)
    assert not channel.transport.disconnecting


def test_while_replies_are_not_read_nothing_more_is_read_from_their_caller(channel):
    channel.dataReceived(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
    channel._handlingRequest = True
    channel.pauseProducing()
    assert channel.transport.producerState == "paused"
    channel.resumeProducing()
    assert channel.transport.producerState == "producing"
