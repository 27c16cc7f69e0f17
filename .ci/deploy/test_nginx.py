"""What nginx, as deploy/ has it, does with requests on their way: in front of a server that tells what came."""

import json
import re
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from asking import Asker, until

from benchmarks.cluster.parts import listens
from benchmarks.cluster.proxy import nginx_command
from benchmarks.processes import free_port

SECRET = "what-nobody-may-read"


class Web(ThreadingHTTPServer):
    """A web process: tells the headers that came, and hangs up without a word at /drop."""

    daemon_threads = True
    came: list[str]

    def __init__(self, came: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), Telling)
        self.came = came


class Telling(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Web

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.came.append(self.path)
        if self.path.startswith("/drop"):
            self.close_connection = True
            return
        body = json.dumps({"target": self.path, **{name.lower(): value for name, value in self.headers.items()}}).encode()
        self.send_response(200)
        self.send_header("X-Bench-Seats", "x" * 3000)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        """Said to whoever asked."""


@pytest.fixture(scope="module")
def webs() -> Iterator[list[Web]]:
    """Two, which write down together what came."""
    came: list[str] = []
    with Web(came) as one, Web(came) as other:
        for web in (one, other):
            Thread(target=web.serve_forever, daemon=True).start()
        yield [one, other]
        for web in (one, other):
            web.shutdown()


@pytest.fixture
def came(webs: list[Web]) -> list[str]:
    webs[0].came.clear()
    return webs[0].came


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nginx")


@pytest.fixture(scope="module")
def nginx(webs: list[Web], folder: Path) -> Iterator[Asker]:
    """nginx with three web processes, of which one is not there."""
    port = free_port()
    command = nginx_command(folder, port, [free_port(), *(web.server_address[1] for web in webs)])
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
    try:
        until(lambda: listens(port), process=process, log=folder / "said")
        yield Asker(port, {"Host": "bench.example"}, source="127.0.0.2")
    finally:
        process.terminate()
        process.wait(60)


def test_the_bench_is_told_who_really_asks_and_how(nginx: Asker) -> None:
    told = nginx.ask("GET", "/v1/models?a=%2F", X_Forwarded_For="203.0.113.7", X_Forwarded_Host="evil.example").json
    assert told["target"] == "/v1/models?a=%2F"
    assert (told["x-forwarded-for"], told["x-forwarded-proto"]) == ("127.0.0.2", "http")
    assert told["x-forwarded-host"] == told["host"] == "bench.example"
    assert "upgrade" not in told and "connection" not in told
    assert nginx.ask("GET", "/", Upgrade="websocket", Connection="upgrade").json["connection"] == "upgrade"


def test_who_is_away_is_not_asked_and_who_may_have_begun_is_not_asked_twice(nginx: Asker, came: list[str]) -> None:
    assert [nginx.ask("POST", "/asked", {}).status for _ in range(6)] == [200] * 6
    dropped = nginx.ask("POST", "/drop")
    assert (dropped.status, dropped.json["error"]["type"]) == (502, "server_error")
    assert came == ["/asked"] * 6 + ["/drop"]


def test_a_body_beyond_all_measure_is_refused_in_json_before_it_is_sent(nginx: Asker, came: list[str]) -> None:
    refused = nginx.ask("POST", "/v1/messages", b"", Content_Length=str(10**10))
    assert (refused.status, refused.json["error"]["type"]) == (413, "invalid_request_error")
    assert came == []


@pytest.mark.parametrize("path", ["/metrics", "//metrics", "/%6Detrics", "/./metrics", "/metrics?x=1"])
def test_the_numbers_of_one_process_are_shown_to_nobody(nginx: Asker, path: str) -> None:
    assert nginx.ask("GET", path).status == 404


def test_nothing_that_is_asked_is_in_a_log_of_nginx(nginx: Asker, folder: Path) -> None:
    for path in ("/v1beta/models", "/drop"):
        nginx.ask("GET", f"{path}?key={SECRET}", Referer=f"http://{SECRET}.example", User_Agent=SECRET)
    # A line is written once its reply has gone.
    line = re.compile(r"^127\.0\.0\.2 \[.*\] GET 502 .* 502$", re.MULTILINE)
    assert until(lambda: line.search((folder / "nginx-access.log").read_text()))
    assert [name for name in ("said", "nginx-access.log", "nginx-error.log") if SECRET in (folder / name).read_text()] == []
