"""Places that list models, on loopback: each path answers as its script says, and what was asked is kept."""

import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Where the public catalogs are read in tests.
PATHS = {"models_dev": "/api.json", "openrouter": "/openrouter", "freellmapi": "/latest"}

Script = Callable[[BaseHTTPRequestHandler], None]


def sending(body: bytes, status: int = 200, **headers: str) -> Script:
    """Answer with these bytes; the underscores of header names are dashes."""

    def script(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Type": "application/json", "Content_Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return script


def tagged(body: bytes, etag: str = '"one"') -> Script:
    """Answer with these bytes, or with 304 who has them already."""

    def script(handler: BaseHTTPRequestHandler) -> None:
        held = handler.headers.get("If-None-Match") == etag
        (sending(b"", 304) if held else sending(body, ETag=etag))(handler)

    return script


def endless(block: bytes, size: int, pause: float = 0.0, **headers: str) -> Script:
    """Send `block` again and again until `size` bytes have gone, never holding them."""

    def script(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for name, value in {"Content_Type": "application/json", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        for _ in range(size // len(block)):
            handler.wfile.write(block)
            time.sleep(pause)

    return script


def bomb(size: int) -> Script:
    """Answer with `size` bytes, compressed to a thousandth."""
    packer = zlib.compressobj(9, wbits=31)
    packed = [packer.compress(b" " * 1_000_000) for _ in range(size // 1_000_000)]
    return sending(b"".join([*packed, packer.flush()]), Content_Encoding="gzip")


class Places:
    """A server whose `scripts` answer by path; `asked` holds (path with query, headers, body) of every request."""

    def __init__(self) -> None:
        self.scripts: dict[str, Script] = {}
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Places":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def paths(self) -> list[str]:
        return [path for path, _, _ in self.asked]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        places = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                places.asked.append((self.path, dict(self.headers), body))
                script = places.scripts.get(self.path.partition("?")[0], sending(b"{}", 404))
                # Who asked may have heard enough.
                with suppress(OSError):
                    script(self)

            def do_GET(self) -> None:
                self.answer()

            def do_POST(self) -> None:
                self.answer()

            def log_message(self, *args: Any) -> None:
                pass

        return Handler
