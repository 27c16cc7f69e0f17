"""One model under the ids of many hosts, and what stays apart."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collections_app.catalog.same import same

ONE_MODEL = [
    (
        "groq/llama-3.3-70b-versatile",
        "meta-llama/llama-3.3-70b-instruct:free",
        "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
        "Meta-Llama-3_3-70B-Instruct",
        "us.meta.llama3-3-70b-instruct-v1:0",
        "llama3.3:70b",
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
        "accounts/fireworks/models/llama-v3p3-70b-instruct",
    ),
    ("openai/gpt-oss-120b", "gpt-oss:120b-cloud", "openai/gpt-oss-120b:free", "openai-gpt-oss-120b"),
    ("qwen3:8b", "Qwen/Qwen3-8B", "qwen3-8b-fp8", "Qwen3-8B-Q4_K_M.gguf"),
    ("gemma3:27b", "google/gemma-3-27b-it:free", "models/gemma-3-27b-it"),
    ("qwen2.5vl:7b", "qwen/qwen2.5-vl-7b-instruct"),
    ("qwen3-coder:480b", "qwen/qwen3-coder-480b-a35b-instruct"),
    ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5@20251101", "anthropic/claude-opus-4.5"),
    ("command-a-03-2025", "cohere/command-a"),
    ("mistral-small-3.2-24b-instruct-2506", "mistralai/mistral-small-3.2-24b-instruct"),
    ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2"),
    ("zai-glm-4.7", "z-ai/glm-4.7"),
    ("gpt-4o-2024-08-06", "openai/gpt-4o"),
    ("deepseek/deepseek-chat-v3.1:free", "deepseek-ai/DeepSeek-V3.1"),
    ("~anthropic/claude-haiku-latest", "claude-haiku-latest"),
]
# Nothing here is the same as anything else here.
APART = (
    *("llama-3.3-70b", "llama-3.1-70b", "llama-3.1-8b", "gpt-oss-120b", "gpt-oss-20b", "gpt-4.1", "gpt-4.1-mini"),
    *("grok-4", "grok-4-fast", "gpt-4", "gpt-4-turbo", "gpt-5", "gpt-5-chat", "deepseek-chat", "deepseek-r1"),
    *("deepseek-r1-distill-llama-70b", "mistral-large-2411", "mistral-large-2512", "qwen3-30b-a3b", "qwen3-coder-30b-a3b"),
    *("kimi-k2-thinking", "kimi-k2", "gemini-2.5-flash", "gemini-2.5-flash-lite", "claude-opus-4.1", "claude-opus-4.5"),
)


@pytest.mark.parametrize("ids", ONE_MODEL)
def test_hosts_names_for_one_model_are_one(ids: tuple[str, ...]) -> None:
    assert len({same(served_id) for served_id in ids}) == 1, {served_id: same(served_id) for served_id in ids}


def test_other_models_stay_apart() -> None:
    assert [pair for pair in combinations(APART, 2) if same(pair[0]) == same(pair[1])] == []


@given(st.text(max_size=300))
def test_any_text_has_an_answer_that_fits(text: str) -> None:
    answer = same(text)
    assert len(answer) <= 200
    assert bool(answer) or not re.search("[a-z0-9]", text.lower()[:200])
