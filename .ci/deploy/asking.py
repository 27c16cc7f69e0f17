"""Requests as people's programs send them: from an address of this machine's, with a body as it is."""

import http.client
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Asker:
    """Asks what listens on `port`. Every request has `headers`; `source` is the address that it comes from."""

    port: int
    headers: dict[str, str]
    source: str = "127.0.0.1"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """`body`: bytes as they are, anything else as JSON. Header names are written with underscores."""
        with closing(self._connection()) as connection:
            reply = self._sent(connection, method, path, body, headers)
            return Answer(reply.status, reply.headers, reply.read())

    def stream(self, method: str, path: str, body: Any = None, **headers: str) -> Iterator[bytes]:
        """The pieces of a stream, each as it comes."""
        with closing(self._connection()) as connection:
            reply = self._sent(connection, method, path, body, headers)
            assert reply.status == 200, reply.read()
            while piece := reply.read1():
                yield piece

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS, source_address=(self.source, 0))

    def _sent(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> http.client.HTTPResponse:
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=raw, headers={"Content-Type": "application/json"} | self.headers | more)
        return connection.getresponse()


def until(holds: Callable[[], Any], *, process: subprocess.Popen[bytes] | None = None, log: Path | None = None) -> Any:
    """What `holds` returns once that is something, OSError being nothing. Fails after a minute, or with `process` ended."""
    deadline = time.monotonic() + SECONDS
    while (process is None or process.poll() is None) and time.monotonic() < deadline:
        with suppress(OSError):
            if found := holds():
                return found
        time.sleep(0.05)
    raise AssertionError(log.read_text()[-4000:] if log else "it does not come to be")
