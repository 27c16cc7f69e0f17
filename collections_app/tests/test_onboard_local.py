"""Model servers of this machine: each is told by what it answers, and nothing else on a port is taken for one."""

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from collections_app.catalog.onboarding import probe_local
from collections_app.catalog.onboarding.probe_local import LocalServer, probe
from collections_app.catalog.sources import endpoint_listing
from collections_app.tests.places import Places, Script, sending

LISTING = {"object": "list", "data": [{"id": "a-model", "object": "model", "owned_by": "somebody"}]}
LOCKED = sending(b'{"error": "no key"}', 401)


def saying(payload: Any, **headers: str) -> Script:
    return sending(json.dumps(payload).encode(), **headers)


@pytest.fixture
def place() -> Iterator[Places]:
    with Places() as serving:
        yield serving


def port_of(place: Places) -> int:
    return int(place.url.rpartition(":")[2])


def found(place: Places) -> LocalServer | None:
    return next(probe([port_of(place)]), None)


SERVERS = {
    "llama.cpp": ({"/v1/models": saying(LISTING), "/props": saying({"default_generation_settings": {"n_ctx": 4096}})}, "/v1"),
    "Ollama": (
        {
            "/v1/models": saying(LISTING),
            "/api/version": saying({"version": "0.12.0"}),
            "/api/tags": saying({"models": [{"name": "a-model:latest"}]}),
        },
        "",
    ),
    "LM Studio": ({"/v1/models": saying(LISTING), "/api/v0/models": saying(LISTING)}, "/v1"),
    "LiteLLM": ({"/v1/models": LOCKED, "/health/liveliness": saying("I'm alive!")}, "/v1"),
    "vLLM": ({"/v1/models": saying({"object": "list", "data": [{"id": "a-model", "owned_by": "vllm"}]})}, "/v1"),
    "OpenAI form": ({"/v1/models": saying(LISTING)}, "/v1"),
    "Open WebUI": ({"/api/models": LOCKED, "/v1/models": sending(b"<html></html>", Content_Type="text/html")}, "/api"),
}


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_is_told_by_what_it_answers(place: Places, kind: str) -> None:
    place.scripts, path = SERVERS[kind]
    server = found(place)
    assert server
    assert (server.kind, server.base_url) == (kind, f"http://127.0.0.1:{port_of(place)}{path}")
    assert server.protocol == ("ollama" if kind == "Ollama" else "openai_chat")
    assert server.asks_for_key == (kind in ("LiteLLM", "Open WebUI"))
    assert all(method.get("Authorization") is None for _, method, _ in place.asked)


def test_a_list_under_another_path_is_found_too(place: Places) -> None:
    place.scripts = {"/api/v1/models": saying(LISTING)}
    server = found(place)
    assert server
    assert server.base_url.endswith("/api/v1")


@pytest.mark.parametrize(
    "scripts",
    [
        {},
        {"/v1/models": sending(b"<html><body>It works!</body></html>", Content_Type="text/html")},
        {"/v1/models": sending(b'{"data": ')},
        {"/v1/models": sending(b"[" * 200_000)},
        {"/v1/models": saying("a word")},
        {"/props": saying(["default_generation_settings"])},
        {"/api/version": saying({"version": "1"})},
        {"/v1/models": saying({"object": "list", "data": [{"id": "bench/core"}, {"id": "bench/core:merged"}]})},
    ],
    ids=["nothing", "a page", "cut", "deep", "a word", "a list", "a version alone", "a bench"],
)
def test_whatever_else_answers_is_none(place: Places, scripts: dict[str, Script]) -> None:
    place.scripts = scripts
    assert found(place) is None


def test_nobody_is_asked_twice_or_on_a_port_that_was_not_named(place: Places) -> None:
    place.scripts = {"/v1/models": saying(LISTING)}
    servers = list(probe([port_of(place), port_of(place)]))
    assert len(servers) == 1
    assert len(place.paths()) == len(set(place.paths()))


def test_this_bench_is_not_asked(place: Places, settings: Any) -> None:
    settings.BENCH_PORT = port_of(place)
    assert found(place) is None
    assert not place.asked


def test_the_usual_ports_are_looked_at_when_none_is_named(place: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_local, "PORTS", {port_of(place): "somebody"})
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    place.scripts = {"/v1/models": saying(LISTING)}
    assert [server.port for server in probe()] == [port_of(place)]


@pytest.mark.parametrize("said", ["127.0.0.1:{port}", "http://localhost:{port}/", ":{port}"])
def test_ollama_is_looked_for_where_its_own_variable_says(place: Places, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setattr(probe_local, "PORTS", {})
    monkeypatch.setenv("OLLAMA_HOST", said.format(port=port_of(place)))
    place.scripts = {"/v1/models": saying(LISTING)}
    assert [server.port for server in probe()] == [port_of(place)]


def test_a_port_that_accepts_and_never_answers_holds_up_nobody_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_local, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(probe_local, "PORT_SECONDS", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        began = time.monotonic()
        assert list(probe([silent.getsockname()[1]])) == []
        assert time.monotonic() - began < 10


def test_of_llama_cpps_two_lists_the_window_that_answers_is_read() -> None:
    """As it sends them: one in Ollama's form without a window, one in OpenAI's with two."""
    ollamas = {"name": "small", "model": "small", "details": {"format": "gguf"}, "capabilities": ["completion"]}
    openais = {"id": "small", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}}
    body = json.dumps({"models": [ollamas], "object": "list", "data": [openais]}).encode()
    (entry,) = endpoint_listing.read(body).entries
    assert (entry.context_window, entry.trained_window) == (4096, 8192)
