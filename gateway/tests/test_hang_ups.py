"""A caller that hangs up, at whatever moment, stops nothing: every seat still answers and is recorded."""

import json
import socket
import struct
import time

import pytest

BODY = {"model": "bench/staggered", "messages": [{"role": "user", "content": "hang up"}]}


def open_request(server, body) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), 10)
    data = json.dumps(body).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    connection.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(data) + data)
    return connection


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def read_until(connection: socket.socket, wanted: bytes) -> None:
    seen = b""
    while wanted not in seen:
        piece = connection.recv(65536)
        assert piece, seen
        seen += piece


def newest_panel(server) -> int:
    return server.rows("select coalesce(max(id), 0) from evidence_panel")[0][0]


def wait_for(check, seconds: float = 8.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := check():
            return found
        time.sleep(0.05)
    raise AssertionError("it never came")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("moment", ["once sent", "between sections", "at the heading"])
@pytest.mark.parametrize("hang_up", [reset, socket.socket.close], ids=["RST", "FIN"])
def test_every_seat_is_recorded(server, stream, moment, hang_up):
    before = newest_panel(server)
    connection = open_request(server, BODY | {"stream": stream})
    if stream and moment != "once sent":
        read_until(connection, b"## member" if moment == "between sections" else b"# bench/staggered")
    else:
        wait_for(lambda: newest_panel(server) > before)
    hang_up(connection)
    panel = wait_for(lambda: newest_panel(server) if newest_panel(server) > before else 0)
    seats = "select seat_name, status, answer from evidence_call where panel_id = ? order by id"
    wait_for(lambda: all(status != "running" for _, status, _ in server.rows(seats, panel)))
    assert [(name, status) for name, status, _ in server.rows(seats, panel)] == [
        ("member1", "ok"),
        ("member2", "ok"),
        ("member3", "ok"),
    ]


def test_a_caller_gone_before_its_body_had_come_leaves_nothing(server):
    before = newest_panel(server)
    connection = socket.create_connection(("127.0.0.1", server.port), 10)
    connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{")
    reset(connection)
    assert server.chat("bench/pair").status == 200
    assert newest_panel(server) == before + 1


def test_the_server_is_fine_after_many_hang_ups(server):
    for _ in range(20):
        connection = open_request(server, BODY | {"stream": True})
        read_until(connection, b"data: ")
        reset(connection)
    assert server.chat("bench/pair").status == 200
    assert "Traceback" not in server.log
