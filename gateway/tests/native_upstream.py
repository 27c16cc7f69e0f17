"""A real HTTP server for one of the providers' own protocols: it answers each model's name with the reply written for it.

fake_upstream.py speaks OpenAI chat, and has behaviours; here only bytes differ.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from gateway.chat import Message, TextPart
from gateway.tests.fake_upstream import Received
from gateway.upstream import complete
from gateway.upstream.contract import Completion, Delta, Target

QUESTION = (Message("system", (TextPart("Be brief."),)), Message("user", (TextPart("What is the answer?"),)))


@dataclass(frozen=True)
class Scripted:
    """A reply: its body whole, or in pieces, each in a write of its own; a number among them is a silence in seconds."""

    body: bytes | Sequence[bytes | float]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class NativeUpstream:
    """The server, in threads of its own, from entering to leaving the `with`. `base`: where its API begins."""

    def __init__(self, protocol: str, replies: Mapping[str, Scripted], *, base: str = "") -> None:
        self._protocol = protocol
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.replies = replies
        self._server.stopped = threading.Event()
        self.received = self._server.received = []
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}{base}"

    def __enter__(self) -> "NativeUpstream":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def ask(
        self,
        model: str,
        messages: Sequence[Message] = QUESTION,
        on_delta: Callable[[Delta], None] | None = None,
        **settings: Any,
    ) -> Completion:
        """Ask a model here by the protocol; `settings` are the target's."""
        limits = {"connect_timeout": 2, "first_token_timeout": 10, "seat_timeout": 20}
        plain = {"protocol": self._protocol, "base_url": self.url, "model": model}
        return complete(Target(**{**plain, **limits, **settings}), messages, on_delta=on_delta)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    replies: Mapping[str, Scripted]
    received: list[Received]
    stopped: threading.Event


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.received.append(Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        reply = self.server.replies[body["model"]]
        whole = reply.body if isinstance(reply.body, bytes) else None
        length = {"Transfer-Encoding": "chunked"} if whole is None else {"Content-Length": str(len(whole))}
        self.send_response(reply.status)
        for name, value in {**length, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if whole is None:
            self._by_pieces(reply.body)
        else:
            self.wfile.write(whole)

    def _by_pieces(self, pieces: Sequence[Any]) -> None:
        for piece in pieces:
            if isinstance(piece, bytes):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            else:
                self.server.stopped.wait(piece)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass
