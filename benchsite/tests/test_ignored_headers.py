"""Headers that the server beneath would act on before any check of ours: they are as if they had not been sent."""

import socket

import pytest

WEBSOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def test_no_caller_moves_the_sites_addresses(loud_server):
    page = {"Accept": "text/html"}
    plain, moved = (
        loud_server.request("GET", "/", headers=page | more) for more in ({}, {"Daphne-Root-Path": "//evil.example"})
    )
    assert plain.status == moved.status == 302
    assert plain.headers["location"] == moved.headers["location"] == "/admin/"


@pytest.mark.parametrize("path", ["/healthz", "/v1/models", "/admin/"])
def test_a_websockets_handshake_is_a_request_like_another(loud_server, path):
    asked = loud_server.request("GET", path, headers=WEBSOCKET)
    assert (asked.status, "upgrade" in asked.headers) == (200, False)


def test_a_websockets_handshake_passes_the_host_check_too(loud_server):
    assert loud_server.request("GET", "/v1/models", headers=WEBSOCKET | {"Host": "evil.example"}).status == 403


def test_the_connection_goes_on_after_a_handshake_that_was_ignored(loud_server):
    lines = [f"Host: 127.0.0.1:{loud_server.port}", *(f"{name}: {value}" for name, value in WEBSOCKET.items())]
    request = ("GET /healthz HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode()
    with socket.create_connection(("127.0.0.1", loud_server.port), timeout=5) as connection:
        for _ in range(2):
            connection.sendall(request)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
