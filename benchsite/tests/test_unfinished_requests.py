"""Requests that do not end, or end as nobody would expect: bounded in time and memory, and told why."""

import socket
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


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand, for the deadlines and for what is measured against them."""
    clock = Clock()
    monkeypatch.setattr(http_channel, "monotonic", clock.seconds)
    return clock


@pytest.fixture
def channel(clock):
    channel = BenchChannel()
    channel.requestFactory, channel.callLater, channel.timeOut = BenchRequest, clock.callLater, 60
    daphne = Server(application=None, endpoints=["tcp:0"], signal_handlers=False)
    daphne.connections = {}
    channel.factory = HTTPFactory(daphne)
    channel.makeConnection(StringTransport())
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
