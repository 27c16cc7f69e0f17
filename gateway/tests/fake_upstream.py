"""A real HTTP server that speaks OpenAI chat completions, badly where asked: the model's name is the script.

    with FakeUpstream() as upstream:
        Target(base_url=upstream.url, model="slow-0.5", ...)

Names:
    ok, echo                        a stream of a few chunks; echo repeats the last message
    say-<words-with-hyphens>        a stream of those words; cut-<words>: FIN after them
    slow-<s>, slow-headers-<s>      silence before the first token, before the headers
    hung-headers, hung-stream       silence for ever; after two tokens
    tick-<s>                        a token every so often, 20 of them
    late-end                        the end of the body a moment after [DONE]
    hung-end, hung-finish           silence after [DONE]; after the finish reason
    drip-comments, drip-bytes       something all the time, never a token; drip-headers: never a whole header
    disconnect, truncated, reset    after two tokens: FIN in mid-chunk, FIN after whole chunks, RST
    closed, garbage                 FIN without a reply; no HTTP
    stale, stale-<s>                FIN without a reply, after so long, for all but a connection's first request
    half-stale                      the same after half a status line
    malformed, no-done, no-finish   a chunk that is no JSON; no [DONE]; no finish reason
    error-event, finish-error       an error inside the stream, after one token
    odd-start, mislabelled          an unknown field first; a stream labelled as JSON
    dropped, page-as-stream         a stream that is cut before its first event; a web page labelled as a stream
    html-200, html-502, text-200, empty-body, json-body, json-list, bad-json, error-200
    empty, whitespace, length-reasoning, reasoning, refusal, content-filter, tool-call, think-tags, notice
    parts, half-pairs, bytewise     content as a list; surrogate halves; a byte at a time
    redirect, huge, gzip, echo-secret
    echo-error, echo-cut            an error, or a stream cut short, that quotes the whole request
    err-<status>, err-429-<s>       an OpenAI error; with Retry-After. Behind another hyphen an id may be told apart.
Any other name answers like `ok`.
"""

import gzip
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

WORDS = ("The", " answer", " is", " 42", ".")
FOR_EVER = 30.0


@dataclass(frozen=True)
class Received:
    """One request as it came: `headers` by lower-case names."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Seen:
    """What the server has been asked, by all threads."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    requests: list[Received] = field(default_factory=list)
    stats: Counter[str] = field(default_factory=Counter)
    connections: int = 0
    hang_ups: int = 0


class FakeUpstream:
    """The server, in threads of its own, from entering to leaving the `with`."""

    def __init__(self) -> None:
        self.seen = Seen()
        self._stopped = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.seen = self.seen
        self._server.stopped = self._stopped
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "FakeUpstream":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The base URL of an endpoint."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def stats(self) -> Counter[str]:
        """Calls by model."""
        with self.seen.lock:
            return Counter(self.seen.stats)

    @property
    def requests(self) -> list[Received]:
        """Every request so far, oldest first."""
        with self.seen.lock:
            return list(self.seen.requests)

    @property
    def connections(self) -> int:
        """Connections that callers have opened."""
        with self.seen.lock:
            return self.seen.connections

    @property
    def hang_ups(self) -> int:
        """Replies that callers did not hear to their end, as far as the server has noticed."""
        with self.seen.lock:
            return self.seen.hang_ups


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024
    seen: Seen
    stopped: threading.Event

    def handle_error(self, request: Any, client_address: Any) -> None:
        with self.seen.lock:
            self.seen.hang_ups += 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.served = 0
        with self.server.seen.lock:
            self.server.seen.connections += 1

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        received = Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        with self.server.seen.lock:
            self.server.seen.requests.append(received)
            self.server.seen.stats[body["model"]] += 1
        self.received = received
        self.served += 1
        script, rest = script_for(str(body["model"]))
        script(self, rest)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def sleep(self, seconds: float) -> None:
        self.server.stopped.wait(seconds)

    def whole(self, status: int, body: bytes, content_type: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def start_stream(self, **headers: str) -> None:
        self.send_response(200)
        for name, value in {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def send(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, payload: Any) -> None:
        self.send(b"data: " + json.dumps(payload).encode() + b"\n\n")

    def delta(self, finish: str | None = None, **delta: Any) -> None:
        self.event(self.chunk(choices=[{"index": 0, "delta": delta, "finish_reason": finish}]))

    def chunk(self, **fields: Any) -> dict[str, Any]:
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": self.received.body["model"], **fields}

    def end(self, finish: str | None = "stop", *, done: bool = True) -> None:
        if finish:
            self.delta(finish)
        self.event(self.chunk(choices=[], usage={"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}))
        if done:
            self.send(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def say(self, *words: str) -> None:
        self.delta(role="assistant", content="")
        for word in words:
            self.delta(content=word)

    def answer(self, *words: str, finish: str | None = "stop", done: bool = True) -> None:
        self.start_stream()
        self.say(*words)
        self.end(finish, done=done)

    def hang_up(self, *, reset: bool = False) -> None:
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        self.close_connection = True


Script = Callable[[_Handler, str], None]


def ok(call: _Handler, _: str) -> None:
    call.answer(*WORDS)


def say(call: _Handler, words: str) -> None:
    call.answer(*(f"{word} " for word in words.split("-")))


def cut(call: _Handler, words: str) -> None:
    call.start_stream()
    call.say(*(f"{word} " for word in words.split("-")))
    call.hang_up()


def echo(call: _Handler, _: str) -> None:
    content = call.received.body["messages"][-1]["content"]
    call.answer(content if isinstance(content, str) else json.dumps(content))


def slow(call: _Handler, seconds: str) -> None:
    call.start_stream()
    call.sleep(float(seconds))
    call.say(*WORDS)
    call.end()


def slow_headers(call: _Handler, seconds: str) -> None:
    call.sleep(float(seconds))
    call.answer(*WORDS)


def hung_stream(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(*WORDS[:2])
    call.sleep(FOR_EVER)


def tick(call: _Handler, seconds: str) -> None:
    call.start_stream()
    for _ in range(20):
        call.delta(content="tick ")
        call.sleep(float(seconds))
    call.end()


def late_end(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(*WORDS)
    call.delta("stop")
    call.send(b"data: [DONE]\n\n")
    call.sleep(0.03)
    call.wfile.write(b"0\r\n\r\n")


def hung_end(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(*WORDS)
    call.delta("stop")
    call.send(b"data: [DONE]\n\n")
    call.sleep(FOR_EVER)


def hung_finish(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(*WORDS)
    call.delta("stop")
    call.sleep(FOR_EVER)


def drip(call: _Handler, pieces: Iterator[bytes]) -> None:
    ends = time.monotonic() + FOR_EVER
    while time.monotonic() < ends and not call.server.stopped.is_set():
        call.wfile.write(next(pieces))
        time.sleep(0.05)


def drip_comments(call: _Handler, _: str) -> None:
    call.start_stream()
    drip(call, iter(lambda: b"e\r\n: PROCESSING\n\n\r\n", b""))


def drip_bytes(call: _Handler, _: str) -> None:
    call.start_stream()
    drip(call, (b"1\r\n%c\r\n" % byte for byte in b'data: {"never": "' + b"x" * 10_000))


def drip_headers(call: _Handler, _: str) -> None:
    drip(call, (b"%c" % byte for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 10_000))


def disconnect(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(*WORDS[:2])
    call.wfile.write(b"ff\r\ndata: {")
    call.hang_up()


def truncated(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(*WORDS[:2])
    call.hang_up()


def reset(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(*WORDS[:2])
    call.sleep(0.1)
    call.hang_up(reset=True)


def closed(call: _Handler, _: str) -> None:
    call.hang_up()


def stale(call: _Handler, seconds: str) -> None:
    if call.served == 1:
        return call.answer(*WORDS)
    call.sleep(float(seconds or 0))
    call.hang_up()


def half_stale(call: _Handler, _: str) -> None:
    if call.served == 1:
        return call.answer(*WORDS)
    call.wfile.write(b"HTTP/1.1 2")
    call.hang_up()


def garbage(call: _Handler, _: str) -> None:
    call.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    call.hang_up()


def malformed(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(*WORDS[:2])
    call.send(b'data: {"choices": [{"delta": oops\n\n')
    call.end()


def error_event(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say("The")
    call.event({"error": {"message": "The engine is overloaded", "type": "overloaded_error"}})
    call.wfile.write(b"0\r\n\r\n")


def finish_error(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say("The")
    error = {"code": 429, "message": "Provider returned error", "metadata": {"raw": "try again in 20s", "provider_name": "P"}}
    call.event(call.chunk(error=error, choices=[{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]))
    call.wfile.write(b"0\r\n\r\n")


def reply(call: _Handler, message: dict[str, Any], finish: str = "stop") -> bytes:
    choices = [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    return json.dumps({**call.chunk(choices=choices), "object": "chat.completion", "usage": usage}).encode()


def json_body(call: _Handler, _: str) -> None:
    call.whole(200, b"\n\n" + reply(call, {"content": "".join(WORDS), "reasoning": "Six times seven."}))


def length_reasoning(call: _Handler, _: str) -> None:
    call.start_stream()
    call.delta(role="assistant", content=None)
    for word in ("I", " think", " and"):
        call.delta(reasoning_content=word)
    call.end("length")


def reasoning(call: _Handler, _: str) -> None:
    call.start_stream()
    call.delta(
        role="assistant", content="", reasoning="Six times ", reasoning_details=[{"type": "reasoning.text", "text": "Six "}]
    )
    call.delta(reasoning="seven.", content="")
    call.say(*WORDS)
    call.end()


def refusal(call: _Handler, _: str) -> None:
    call.start_stream()
    call.delta(role="assistant", content=None)
    call.delta(refusal="I cannot ")
    call.delta(refusal="help with that.")
    call.end()


def tool_call(call: _Handler, _: str) -> None:
    call.start_stream()
    call.delta(tool_calls=[{"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
    call.end("tool_calls")


def parts(call: _Handler, _: str) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Six times seven."}]}
    call.whole(
        200, reply(call, {"content": [thinking, {"type": "text", "text": "The answer "}, {"type": "text", "text": "is 42."}]})
    )


def half_pairs(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say("A horse ", "\ud83d", "\udc0e", ", half a horse ", "\ud83d", ".")
    call.end()


def bytewise(call: _Handler, _: str) -> None:
    call.start_stream()
    text = "data: " + json.dumps({"choices": [{"delta": {"content": "Žluťoučký 🐎 你好"}}]}, ensure_ascii=False) + "\r\n\r\n"
    for byte in text.encode():
        call.send(bytes([byte]))
    call.end()


def odd_start(call: _Handler, _: str) -> None:
    call.start_stream()
    call.send(b"relay: 7\n\n")
    call.say(*WORDS)
    call.end()


def mislabelled(call: _Handler, _: str) -> None:
    call.start_stream(Content_Type="application/json")
    call.send(b"\xef\xbb")
    call.send(b"\xbf\n\nda")
    call.sleep(0.02)
    call.send(b"ta: {}\n\n")
    call.say(*WORDS)
    call.end()


def dropped(call: _Handler, _: str) -> None:
    call.start_stream()
    call.hang_up()


def huge(call: _Handler, _: str) -> None:
    call.start_stream()
    for _ in range(20):
        call.delta(content="x" * 500_000)
    call.end()


def gzipped(call: _Handler, _: str) -> None:
    body = gzip.compress(reply(call, {"content": "".join(WORDS)}))
    call.whole(200, body, Content_Encoding="gzip")


def echo_secret(call: _Handler, _: str) -> None:
    image = "data:image/png;base64," + "iVBORw0KGgo" * 60
    secret = call.received.headers.get("authorization", "")
    words = f"Bad request to {call.path}?key=abcdef0123456789 with {secret} and {secret.removeprefix('Bearer ')}: {image} " * 4
    call.whole(400, json.dumps({"error": {"message": words, "type": "invalid_request_error"}}).encode())


def echo_error(call: _Handler, _: str) -> None:
    words = f"Cannot read this request: {json.dumps(call.received.body)}"
    call.whole(400, json.dumps({"error": {"message": words, "type": "invalid_request_error"}}).encode())


def echo_cut(call: _Handler, _: str) -> None:
    call.start_stream()
    call.say(json.dumps(call.received.body))
    call.hang_up()


ERRORS = {
    401: ("Incorrect API key provided", "authentication_error", "invalid_api_key"),
    402: ("Insufficient credits", "insufficient_quota", "insufficient_quota"),
    404: ("The model does not exist", "invalid_request_error", "model_not_found"),
    410: ("The model has reached its end of life", "invalid_request_error", None),
    413: (
        "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens.",
        "invalid_request_error",
        None,
    ),
    429: ("Rate limit reached for requests", "rate_limit_error", "rate_limit_exceeded"),
    503: ("The engine is currently overloaded", "server_error", None),
    529: ("Overloaded", "overloaded_error", None),
}


def err(call: _Handler, rest: str) -> None:
    status, wait, *_ = [*rest.split("-"), ""]
    message, kind, code = ERRORS.get(int(status), ("The server had an error", "server_error", None))
    body = json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}}).encode()
    call.whole(int(status), body, **({"Retry_After": wait} if wait else {}))


def fixed(status: int, body: bytes, content_type: str = "application/json", **headers: str) -> Script:
    return lambda call, _: call.whole(status, body, content_type, **headers)


def answered(*words: str, finish: str | None = "stop", done: bool = True) -> Script:
    return lambda call, _: call.answer(*words, finish=finish, done=done)


def page(title: str) -> bytes:
    return f"<html>\r\n<head><title>{title}</title></head><body>secret</body></html>".encode()


SCRIPTS: dict[str, Script] = {
    "slow-headers-": slow_headers,
    "slow-": slow,
    "say-": say,
    "cut-": cut,
    "err-": err,
    "echo-secret": echo_secret,
    "echo-error": echo_error,
    "echo-cut": echo_cut,
    "echo": echo,
    "hung-headers": lambda call, _: call.sleep(FOR_EVER),
    "hung-stream": hung_stream,
    "tick-": tick,
    "late-end": late_end,
    "hung-end": hung_end,
    "hung-finish": hung_finish,
    "drip-comments": drip_comments,
    "drip-bytes": drip_bytes,
    "drip-headers": drip_headers,
    "disconnect": disconnect,
    "truncated": truncated,
    "reset": reset,
    "closed": closed,
    "stale-": stale,
    "stale": stale,
    "half-stale": half_stale,
    "garbage": garbage,
    "malformed": malformed,
    "no-done": answered(*WORDS, done=False),
    "no-finish": answered(*WORDS, finish=None),
    "error-event": error_event,
    "finish-error": finish_error,
    "html-200": fixed(200, page("Sign in &amp; go"), "text/html"),
    "html-502": fixed(502, page("502 Bad Gateway"), "text/html"),
    "text-200": fixed(200, b"Down for maintenance", "text/plain"),
    "empty-body": fixed(200, b""),
    "json-body": json_body,
    "json-list": fixed(200, b'[{"error": {"code": 503, "message": "The model is overloaded", "status": "UNAVAILABLE"}}]'),
    "bad-json": fixed(200, b'{"choices": [{"message": {"content": "The'),
    "error-200": fixed(200, b'{"error": {"message": "Rate limit exceeded: free-models-per-day", "code": 429}}'),
    "empty": answered(),
    "whitespace": answered("  \n", " "),
    "length-reasoning": length_reasoning,
    "reasoning": reasoning,
    "refusal": refusal,
    "content-filter": answered(finish="content_filter"),
    "tool-call": tool_call,
    "think-tags": answered("<thi", "nk>Six times seven.</thi", "nk>\n\nThe answer is 42."),
    "notice": answered("The account behind this API key doesn't have enough credits. ", "Please top up, then try again."),
    "parts": parts,
    "half-pairs": half_pairs,
    "bytewise": bytewise,
    "redirect": fixed(308, b"", Location="https://user:pw@elsewhere.example/v1/chat/completions?token=abcdef0123"),
    "odd-start": odd_start,
    "mislabelled": mislabelled,
    "dropped": dropped,
    "page-as-stream": fixed(200, page("Sign in"), "text/event-stream"),
    "huge": huge,
    "gzip": gzipped,
}


def script_for(model: str) -> tuple[Script, str]:
    """The script that a model's name asks for, and what the name holds after the script's own."""
    for name, script in SCRIPTS.items():
        if model == name or (name.endswith("-") and model.startswith(name)):
            return script, model.removeprefix(name)
    return ok, ""
