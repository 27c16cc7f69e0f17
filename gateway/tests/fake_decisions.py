"""A real HTTP server that answers typed questions in either dialect, badly where asked: the model's name is the script.

Names: pick-<option>[-<confidence>], bare-<option> (neither confidence nor probabilities), hang, slow-<s>-<option>,
err-<status>[-<wait>], garbage, page, refuse, choice-only; any other takes the first option. Each place answers as it is told:

    with FakeDecisions({"/v1/decisions": "systemone"}) as fake: ...   all other paths are 404
"""

import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeDecisions:
    """The server, in threads of its own, from entering to leaving the `with`."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.fake = self  # type: ignore[attr-defined]
        self.places = dict(places)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "FakeDecisions":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"{self.host}/v1"

    @property
    def asked(self) -> list[str]:
        return [path for path, _, _ in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        fake: FakeDecisions = self.server.fake  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        dialect = fake.places.get(self.path)
        if dialect is None:
            return self.send(404, {"error": {"message": "no such route"}})
        if (dialect == "openai") != isinstance(body.get("questions"), list):
            return self.send(422, {"detail": [{"loc": ["body", "questions"], "msg": "Field required", "type": "missing"}]})
        script, _, rest = str(body["model"]).partition("-")
        self.play(script, rest, dialect, body)

    def play(self, script: str, rest: str, dialect: str, body: dict[str, Any]) -> None:
        if script == "hang":
            self.server.fake.stopped.wait(20)  # type: ignore[attr-defined]
        elif script == "err":
            status, _, wait = rest.partition("-")
            self.send(int(status), {"error": {"message": f"No: {status}"}}, **({"Retry-After": wait} if wait else {}))
        elif script == "garbage":
            self.send(200, {"answers": [[], {"shape": 7}]})
        elif script == "page":
            self.send(200, "<html><title>Sign in</title></html>")
        else:
            if script == "slow":
                seconds, _, rest = rest.partition("-")
                time.sleep(float(seconds))
            self.answer(script, rest, dialect, body)

    def answer(self, script: str, rest: str, dialect: str, body: dict[str, Any]) -> None:
        asked = body["questions"][0] if dialect == "openai" else body["questions"]["shape"]
        kind = asked["type"]
        options = [item["value"] for item in asked.get("choices", [])] or list(asked.get("criteria", []))
        choice, _, sure = ("" if script == "choice" else rest).partition("-")
        confidence = float(sure or 0.95)
        answer: dict[str, Any] = {"type": kind, "choice": choice or (options or [""])[0], "confidence": confidence}
        if script == "refuse":
            answer = {"type": "refusal"}
        elif kind != "choice" and script == "choice":
            return self.send(422, {"detail": [{"loc": ["type"], "msg": "Only choice", "type": "literal_error"}]})
        elif kind != "choice":
            answer = {"type": kind, "noul": 0.9, "score": 0.8, "probability": 0.9}
        elif script == "bare":
            answer = {"type": kind, "choice": choice}
        answers: Any = [{"name": "shape", **answer}] if dialect == "openai" else {"shape": answer}
        self.send(200, {"model": body["model"], "answers": answers})

    def send(self, status: int, body: Any, **headers: str) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing: pytest's output is for failures."""
