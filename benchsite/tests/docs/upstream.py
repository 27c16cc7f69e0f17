"""A provider that answers the documents' prompts as real small models once did: answers.json, by model and prompt.

With BENCH_DOCS_UPSTREAMS, a JSON object of base URLs by model, a prompt that is not recorded is asked there and recorded.
"""

import hashlib
import json
import os
import re
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

RECORDED = Path(__file__).with_name("answers.json")
NOT_RECORDED = "No answer to this prompt is recorded."
_RECORDING = threading.Lock()


class RecordedModels:
    """The server, in threads of its own, from entering to leaving the `with`."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "RecordedModels":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The base URL of an endpoint."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = answer(body)
        choices = [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 40, "completion_tokens": 60, "total_tokens": 100}
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in ({**chunk, "choices": choices}, {**chunk, "choices": [], "usage": usage}):
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass


def answer(body: dict[str, Any]) -> str:
    """What the model of a request for a chat completion says to its last message."""
    model, prompt = str(body["model"]), _prompt(body["messages"][-1]["content"])
    with _RECORDING:
        recorded = json.loads(RECORDED.read_text())
        upstreams = json.loads(os.environ.get("BENCH_DOCS_UPSTREAMS", "{}"))
        if prompt not in recorded.get(model, {}) and model in upstreams:
            recorded.setdefault(model, {})[prompt] = _asked(upstreams[model], body)
            RECORDED.write_text(json.dumps(recorded, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return str(recorded.get(model, {}).get(prompt, NOT_RECORDED))


def _prompt(content: Any) -> str:
    """A prompt as the record has it: its text, without what differs from run to run; a long one by its hash."""
    text = content if isinstance(content, str) else json.dumps(content)
    text = re.sub(r"[0-9a-f]{8,}|\d+(\.\d+)?", "#", text)
    return text if len(text) <= 300 else f"{text[:80]} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _asked(base_url: str, body: dict[str, Any]) -> str:
    whole = {"max_tokens": 120} | {name: value for name, value in body.items() if not name.startswith("stream")}
    request = urllib.request.Request(
        f"{base_url}/chat/completions", json.dumps(whole).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as reply:
        return str(json.load(reply)["choices"][0]["message"]["content"]).strip()
