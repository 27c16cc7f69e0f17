"""One collection shown as a model, in every format that shows one: `:latest`, which clients add, is its own mode."""

from typing import Any

import pytest

# Three formats share a path and are told apart by a header of their SDKs'.
CARDS = {
    "openai": ("GET", "/v1/models/{model}", {}),
    "anthropic": ("GET", "/v1/models/{model}", {"anthropic-version": "2023-06-01"}),
    "gemini": ("GET", "/v1beta/models/{model}", {}),
    "gemini by its header": ("GET", "/v1/models/{model}", {"x-goog-api-client": "x"}),
    "ollama": ("POST", "/api/show", {}),
}


def card(server: Any, name: str, model: str) -> Any:
    method, path, headers = CARDS[name]
    body = {"model": model} if method == "POST" else None
    reply = server.request(method, path.format(model=model), body, headers)
    assert reply.status == 200, reply.body
    return reply.json


@pytest.mark.parametrize("name", CARDS)
def test_latest_is_shown_in_the_collections_own_mode(server: Any, name: str) -> None:
    own = card(server, name, "bench/pair")
    assert card(server, name, "bench/pair:latest") == own
    assert card(server, name, "bench/pair:all") == own
    assert card(server, name, "bench/pair:merged") != own


@pytest.mark.parametrize("name", CARDS)
def test_a_suffix_that_is_no_mode_shows_nothing(server: Any, name: str) -> None:
    method, path, headers = CARDS[name]
    body = {"model": "bench/pair:newest"} if method == "POST" else None
    assert server.request(method, path.format(model="bench/pair:newest"), body, headers).status == 404
