"""Model servers of this machine, told apart by what they answer; looked for on loopback alone, and only when asked to.

Asks with GET and sends no key and no prompt. Writes nothing.
"""

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.conf import settings

from collections_app.catalog.entry import SourceError
from collections_app.catalog.fetch import Request, StatusError, fetch

HOST = "127.0.0.1"
# Where model servers listen unless told otherwise, and whose port it is.
PORTS: Mapping[int, str] = {
    11434: "Ollama",
    1234: "LM Studio",
    8080: "llama.cpp, LocalAI",
    8000: "vLLM, Lemonade",
    4000: "LiteLLM",
    1337: "Jan, Atomic Chat",
    5001: "KoboldCpp",
    5000: "text-generation-webui",
    30000: "SGLang",
    4891: "GPT4All",
    13305: "Lemonade",
    3000: "Open WebUI",
    8317: "CLIProxyAPI",
    3001: "FreeLLMAPI",
}
CONNECT_SECONDS = 0.5
# For one question, and for all that one port is asked.
ANSWER_SECONDS, PORT_SECONDS = 2.0, 6.0
LARGEST = 2_000_000
PORTS_AT_ONCE = 16
ASKS_FOR_KEY = (401, 403)


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered: what it is, and how it is asked. `slug` is the start of a name for its endpoint."""

    port: int
    kind: str
    slug: str
    protocol: str = "openai_chat"
    path: str = "/v1"
    asks_for_key: bool = False

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.port}{self.path}"


def probe(ports: Iterable[int] = ()) -> Iterator[LocalServer]:
    """Yield the model servers that answer on `ports` of this machine, by default the usual ones, in the ports' order.

    A bench is none, this one included: a collection is never a seat of another.
    """
    wanted = [port for port in dict.fromkeys(ports or usual_ports()) if port != settings.BENCH_PORT]
    with ThreadPoolExecutor(PORTS_AT_ONCE, thread_name_prefix="probe") as threads:
        for server in threads.map(_server, wanted):
            if server:
                yield server


def usual_ports() -> tuple[int, ...]:
    """Where model servers listen unless told otherwise, and Ollama where its own variable says, if that is this machine."""
    host = os.environ.get("OLLAMA_HOST", "").rpartition("//")[2].rstrip("/")
    name, _, port = host.rpartition(":")
    there = (int(port),) if name in ("", "localhost", HOST) and port.isdecimal() and 0 < int(port) < 65536 else ()
    return tuple(dict.fromkeys((*there, *PORTS)))


def _server(port: int) -> LocalServer | None:
    try:
        # Let go of before anything is asked: a server of one thread would wait for it to say something.
        socket.create_connection((HOST, port), timeout=CONNECT_SECONDS).close()
    except OSError:
        return None
    return _recognised(_Questions(port))


class _Questions:
    """What one port answers, path by path, each asked once; None for no JSON, a refusal, and once its time is up."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.refused: set[str] = set()
        self._ends = monotonic() + PORT_SECONDS
        self._answers: dict[str, Any] = {}

    def ask(self, path: str) -> Any:
        if path not in self._answers:
            self._answers[path] = self._asked(path)
        return self._answers[path]

    def ids(self, path: str = "/v1/models") -> list[str] | None:
        """The ids that a listing has; None when there is none."""
        answer = self.ask(path)
        rows = answer.get("data") or answer.get("models") if isinstance(answer, dict) else answer
        if not isinstance(rows, list):
            return [] if isinstance(answer, dict) and answer.get("object") == "list" else None
        return [str(row.get("id") or row.get("name") or "") for row in rows if isinstance(row, dict)]

    def _asked(self, path: str) -> Any:
        seconds = min(ANSWER_SECONDS, self._ends - monotonic())
        if seconds <= 0:
            return None
        try:
            body = fetch(Request(f"http://{HOST}:{self.port}{path}", largest=LARGEST, seconds=seconds)).body
            return json.loads(body or b"")
        except StatusError as error:
            if error.status in ASKS_FOR_KEY:
                self.refused.add(path)
        except (SourceError, ValueError, RecursionError):
            pass
        return None


def _recognised(asked: _Questions) -> LocalServer | None:
    if _is_bench(asked):
        return None
    for kind in KINDS:
        if kind.is_it(asked):
            locked = f"{kind.path}/models" in asked.refused
            return LocalServer(asked.port, kind.name, kind.slug, kind.protocol, kind.path, asks_for_key=locked)
    return None


def _is_bench(asked: _Questions) -> bool:
    ids = asked.ids()
    return bool(ids) and all(name.startswith("bench/") for name in ids or ())


def _is_llama_cpp(asked: _Questions) -> bool:
    props = asked.ask("/props")
    return isinstance(props, dict) and "default_generation_settings" in props


def _is_ollama(asked: _Questions) -> bool:
    """llama.cpp and others speak some of its routes too, but for the version."""
    version, tags = asked.ask("/api/version"), asked.ask("/api/tags")
    return (
        isinstance(version, dict) and "version" in version and isinstance(tags, dict) and isinstance(tags.get("models"), list)
    )


def _is_owned_by(listing: Any, owner: str) -> bool:
    rows = listing.get("data") if isinstance(listing, dict) else None
    return isinstance(rows, list) and any(isinstance(row, dict) and row.get("owned_by") == owner for row in rows)


def _lists_at(path: str) -> Callable[[_Questions], bool]:
    """Whether it lists models there, or would to somebody with a key."""
    return lambda asked: asked.ids(path) is not None or path in asked.refused


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    slug: str
    is_it: Callable[[_Questions], bool]
    protocol: str = "openai_chat"
    path: str = "/v1"


# In this order: several speak the routes of others too, and the first that is told apart by one of its own is meant.
KINDS = (
    _Kind("llama.cpp", "llama-cpp", _is_llama_cpp),
    _Kind("Ollama", "ollama", _is_ollama, protocol="ollama", path=""),
    _Kind("LM Studio", "lm-studio", lambda asked: bool(asked.ids("/api/v0/models"))),
    _Kind("LiteLLM", "litellm", lambda asked: asked.ask("/health/liveliness") == "I'm alive!"),
    _Kind("vLLM", "vllm", lambda asked: _is_owned_by(asked.ask("/v1/models"), "vllm")),
    _Kind("OpenAI form", "local", _lists_at("/v1/models")),
    _Kind("OpenAI form", "local", _lists_at("/api/v1/models"), path="/api/v1"),
    _Kind("Open WebUI", "open-webui", _lists_at("/api/models"), path="/api"),
)
