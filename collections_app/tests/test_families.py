"""Models that share weights or a teacher share a line; a line is read from the id, and a router has none."""

import json
import time

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from collections_app.families import family_lines, is_router, table

VECTORS = settings.BASE_DIR.parent / "shared" / "data" / "family_vectors.json"

LINES = {
    "meta-llama/llama-3.3-70b-instruct:free": "llama",
    "groq/llama-3.3-70b-versatile": "llama",
    "accounts/fireworks/models/llama-v3p1-405b-instruct": "llama",
    "us.meta.llama3-3-70b-instruct-v1:0": "llama",
    "Meta-Llama-3_3-70B-Instruct": "llama",
    "codellama:34b": "llama",
    "deepseek-r1-distill-llama-70b": "llama deepseek",
    "deepseek/deepseek-r1-0528-qwen3-8b": "qwen deepseek",
    "perplexity/r1-1776": "deepseek",
    "microsoft/mai-ds-r1:free": "deepseek mai",
    "nousresearch/hermes-4-70b": "hermes llama",
    "nvidia/llama-3_3-nemotron-super-49b-v1": "nemotron llama",
    "mistralai/mistral-nemotron": "nemotron mistral",
    "nvidia/nemotron-3-super-120b-a12b:free": "nemotron",
    "openai/gpt-oss-120b": "gpt-oss",
    "openai/gpt-4.1": "gpt",
    "openai/o4-mini": "gpt",
    "Qwen/QwQ-32B": "qwen",
    "qwen2.5vl:7b": "qwen",
    "~moonshotai/kimi-latest": "kimi",
    "LLM360/K2-Think": "k2-think qwen",
    "us.anthropic.claude-opus-4-5-20251101-v1:0": "claude",
    "claude-opus-4-5@20251101": "claude",
    "inclusionai/ring-2.6-1t:free": "ling",
    "thinkingmachines/Inkling": "inkling",
    "groq/compound": "compound",
    "gemma-4-31b-claude-4.6-opus-reasoning-distilled": "gemma claude",
    # No rule: the words before the first size, version, date or generic word.
    "SmolLM2-135M-Instruct": "smollm",
    "cohere/north-mini-code:free": "north",
    "upstage/solar-pro2": "solar",
    "opencode/big-pickle": "big-pickle",
    "openrouter/owl-alpha": "owl",
}


@pytest.mark.parametrize("served_id", LINES)
def test_an_id_tells_its_lines(served_id: str) -> None:
    assert family_lines(served_id) == set(LINES[served_id].split())


@pytest.mark.parametrize(
    "served_id", ["openrouter/auto", "openrouter/free", "kilo-auto/free", "auto", "azure/model-router", "bench/core"]
)
def test_a_router_has_no_line(served_id: str) -> None:
    assert is_router(served_id)
    assert family_lines(served_id) == frozenset()


@pytest.mark.parametrize("served_id", ["autocoder-7b", "openrouter/owl-alpha", "groq/compound", "automation/qwen3"])
def test_a_name_with_auto_in_it_is_no_router(served_id: str) -> None:
    assert not is_router(served_id)


def test_the_relation_is_not_transitive() -> None:
    distill, llama, deepseek = map(family_lines, ("deepseek-r1-distill-llama-70b", "llama-3.1-8b-instant", "deepseek-chat"))
    assert distill & llama
    assert distill & deepseek
    assert not llama & deepseek


def test_a_hint_counts_only_where_no_rule_does() -> None:
    assert family_lines("acme/frontier-9", hint="Mimo-Free") == {"mimo"}
    assert family_lines("meta-llama/llama-3.3-70b", hint="gpt") == {"llama"}


def test_the_table_names_its_version() -> None:
    assert table().version >= 1


@given(st.text(max_size=200))
def test_whatever_an_id_holds_only_a_router_has_no_line(served_id: str) -> None:
    assert (family_lines(served_id) == frozenset()) == is_router(served_id)


@pytest.mark.parametrize("served_id", ["acme-" + "1" * 195 + "!", "a-" * 100, "1x." * 66, "us." * 66, ":free" * 40])
def test_no_id_takes_long_to_read(served_id: str) -> None:
    started = time.process_time()
    family_lines(served_id)
    assert time.process_time() - started < 3


@pytest.mark.skipif(not VECTORS.exists(), reason="the project's shared vectors are not on this machine")
def test_the_shared_vectors() -> None:
    data = json.loads(VECTORS.read_text())
    read = {row["id"]: sorted(family_lines(row["id"])) for row in data["vectors"]}
    assert read == {row["id"]: sorted(row["all"]) for row in data["vectors"]}
    assert {row["id"] for row in data["vectors"] if is_router(row["id"])} == {
        row["id"] for row in data["vectors"] if row["kind"] == "router"
    }
    for pair in data["pairs"]:
        assert bool(family_lines(pair["a"]) & family_lines(pair["b"])) == pair["same"], pair
