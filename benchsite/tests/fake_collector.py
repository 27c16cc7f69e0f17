"""A collector of traces: OTLP over HTTP on loopback, every span kept, and ill-behaved where asked."""

import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Span:
    """As it came: `kind` 2 is a server's, 3 a client's; ids in hexadecimal, times in seconds."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    began: float
    ended: float
    attributes: dict[str, Any]
    is_error: bool
    said: str
    resource: dict[str, Any]


class FakeCollector:
    """From entering to leaving the `with`. While `hangs` is set nobody is answered."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.hangs = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.collector = self

    def __enter__(self) -> "FakeCollector":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hangs.clear()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def spans(self) -> list[Span]:
        return [span for body in list(self.bodies) for span in _spans(body)]

    def of_trace(self, trace: str, count: int) -> list[Span]:
        """The spans of a trace, once so many have come."""
        deadline = time.monotonic() + 20
        while len(found := [span for span in self.spans if span.trace == trace]) < count:
            assert time.monotonic() < deadline, self.spans
            time.sleep(0.05)
        return found


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        collector: FakeCollector = self.server.collector
        body = self.rfile.read(int(self.headers["Content-Length"]))
        while collector.hangs.is_set():
            time.sleep(0.05)
        collector.bodies.append(body)
        collector.headers.append({name.lower(): value for name, value in self.headers.items()})
        collector.paths.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def _spans(body: bytes) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        Span(
            name=span.name,
            kind=span.kind,
            trace=span.trace_id.hex(),
            id=span.span_id.hex(),
            parent=span.parent_span_id.hex(),
            began=span.start_time_unix_nano / 1e9,
            ended=span.end_time_unix_nano / 1e9,
            attributes=_values(span.attributes),
            is_error=span.status.code == 2,
            said=span.status.message + "".join(event.name for event in span.events),
            resource=_values(of_one.resource.attributes),
        )
        for of_one in request.resource_spans
        for scope in of_one.scope_spans
        for span in scope.spans
    ]


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)
