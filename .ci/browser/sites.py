"""Other people's sites: small servers of pages on ports of their own, and the names that the browser finds them under."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).parent
MODULES = HERE.parent / "sdks" / "js"
# Names outside this machine that lead to it all the same, as an attacker's own name server would have it.
EVIL, PLAIN = "evil.example", "bench.example"


class Site:
    """Serves pages/ and, under /node_modules/, the SDKs; in threads of its own, from entering to leaving the `with`."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(HERE / "pages")))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "Site":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def origin(self, host: str) -> str:
        return f"http://{host}:{self._server.server_port}"


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def translate_path(self, path: str) -> str:
        if path.startswith("/node_modules/"):
            self.directory = str(MODULES)
        return super().translate_path(path)

    def log_message(self, format: str, *args: Any) -> None:
        pass
