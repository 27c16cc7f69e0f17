"""A provider that costs next to nothing: OpenAI chat over hand-written HTTP/1.1, in a process of its own.

Understands what the benchmark sends and no more: bodies with a Content-Length, one request at a time on a connection.
The model's name is its latency: m-50 answers after 50 ms, s-5000 after 5 s.
"""

import argparse
import asyncio
import functools
import json
import re

ANSWER_BYTES = 2048
BACKLOG = 2048

_CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)")
_LATENCY = re.compile(r"-(\d+)$")
_FILLER = "A stale read needs a second writer, and here there is only one; the lock is held until the row is durable. "


def answer_of(model: str) -> str:
    """The text that a model always answers, ANSWER_BYTES of ASCII; it starts with the model's name."""
    start = f"Answer of {model}. "
    return (start + _FILLER * (ANSWER_BYTES // len(_FILLER) + 1))[:ANSWER_BYTES]


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 120, "completion_tokens": ANSWER_BYTES // 4, "total_tokens": 120 + ANSWER_BYTES // 4}


def _http(content_type: bytes, framing: bytes, body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Type: %b\r\n%b\r\n\r\n%b" % (status, content_type, framing, body)


def _json(status: bytes, payload: object) -> bytes:
    body = json.dumps(payload).encode()
    return _http(b"application/json", b"Content-Length: %d" % len(body), body, status)


@functools.cache
def whole_reply(model: str) -> bytes:
    """The HTTP reply to a request that does not stream."""
    message = {"role": "assistant", "content": answer_of(model)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    envelope = {"id": "chatcmpl-mock", "object": "chat.completion", "created": 0, "model": model}
    return _json(b"200 OK", {**envelope, "choices": [choice], "usage": _usage()})


@functools.cache
def streamed_reply(model: str, chunks: int) -> bytes:
    """The HTTP reply to a request that streams: every event a chunk of its own, as providers send them."""
    text, size = answer_of(model), -(-ANSWER_BYTES // chunks)
    envelope = {"id": "chatcmpl-mock", "object": "chat.completion.chunk", "created": 0, "model": model}

    def event(delta: dict[str, str], finish_reason: str | None = None) -> str:
        return json.dumps({**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})

    events = [event({"content": text[at : at + size]}) for at in range(0, len(text), size)]
    events += [event({}, "stop"), json.dumps({**envelope, "choices": [], "usage": _usage()}), "[DONE]"]
    framed = [b"data: %b\n\n" % data.encode() for data in events]
    body = b"".join(b"%x\r\n%b\r\n" % (len(data), data) for data in framed) + b"0\r\n\r\n"
    return _http(b"text/event-stream", b"Transfer-Encoding: chunked", body)


class Upstream(asyncio.Protocol):
    """One connection, kept alive."""

    def __init__(self, chunks: int) -> None:
        self.chunks = chunks
        self.buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.buffer[:end])
        length = _CONTENT_LENGTH.search(head.lower())
        size = end + 4 + (int(length[1]) if length else 0)
        if len(self.buffer) < size:
            return
        body = bytes(self.buffer[end + 4 : size])
        del self.buffer[:size]
        self.answer(head, body)

    def answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET /healthz "):
            return self.send(_json(b"200 OK", {"status": "ok"}))
        if not head.startswith(b"POST /v1/chat/completions "):
            return self.send(_json(b"404 Not Found", {"error": {"message": "Only chat completions here."}}))
        asked = json.loads(body)
        latency = _LATENCY.search(asked["model"])
        if latency is None:
            return self.send(_json(b"404 Not Found", {"error": {"message": "No such model.", "code": "model_not_found"}}))
        reply = streamed_reply(asked["model"], self.chunks) if asked.get("stream") else whole_reply(asked["model"])
        asyncio.get_running_loop().call_later(int(latency[1]) / 1000, self.send, reply)

    def send(self, reply: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(reply)


async def serve(port: int, chunks: int) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Upstream(chunks), "127.0.0.1", port, backlog=BACKLOG)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--chunks", type=int, default=8, help="events with text in a streamed answer (default 8)")
    args = parser.parse_args()
    asyncio.run(serve(args.port, args.chunks))


if __name__ == "__main__":
    main()
