"""What a model is proposed as: an alias that every rule takes and nobody has, and a role read from its id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collections_app.catalog.onboarding.propose import alias_of, propose_alias, propose_role
from collections_app.models.fields import alias_rule


@pytest.mark.parametrize(
    ("served_id", "alias"),
    [
        ("openai/gpt-oss-120b:free", "gpt-oss-120b"),
        ("@cf/meta/llama-3.1-8b-instruct", "llama-3.1-8b-instruct"),
        ("Qwen/Qwen3_Coder 480B", "qwen3_coder-480b"),
        ("llama3.2:3b", "llama3.2-3b"),
        ("qwen3:latest", "qwen3"),
        ("accounts/fireworks/models/kimi-k2p7/", "kimi-k2p7"),
        ("\u202e﷽", "model"),
        ("x" * 300, "x" * 64),
    ],
)
def test_an_alias_is_the_ids_own_name(served_id: str, alias: str) -> None:
    assert alias_of(served_id) == alias


def test_an_alias_that_is_taken_gets_its_endpoints_name_and_then_a_number() -> None:
    taken = {"gpt-oss-120b"}
    assert propose_alias("openai/gpt-oss-120b:free", taken, "groq") == "gpt-oss-120b-groq"
    taken.add("gpt-oss-120b-groq")
    assert propose_alias("openai/gpt-oss-120b:free", taken, "groq") == "gpt-oss-120b-groq-2"


@given(st.text(max_size=400), st.sets(st.text(max_size=10), max_size=3))
def test_whatever_an_id_is_its_alias_can_be_written_and_is_nobody_elses(served_id: str, others: set[str]) -> None:
    taken = {alias_of(served_id), *others}
    proposed = propose_alias(served_id, taken, "endpoint")
    alias_rule(proposed)
    alias_rule(alias_of(served_id))
    assert proposed not in taken


@pytest.mark.parametrize(
    ("served_id", "role"),
    [
        ("openai/gpt-oss-120b", "general"),
        ("qwen3-30b-a3b-instruct", "general"),
        ("qwen/qwen3-coder:free", "code"),
        ("qwen2.5-coder-0.5b", "code"),
        ("mistralai/devstral-small-2507", "code"),
        ("claude-code", "code"),
        ("smollm2-135m", "light"),
        ("gemma3-270m", "light"),
        ("llama-3.1-8b-instruct", "light"),
        ("gpt-5-mini", "light"),
        ("minimax-m2", "general"),
        ("qwen3-vl-235b-a22b", "vision"),
        ("meta-llama/Llama-3.2-90B-Vision-Instruct", "vision"),
        ("decoder-70b", "general"),
        ("a-model-of-2026", "general"),
    ],
)
def test_a_role_is_read_from_the_id(served_id: str, role: str) -> None:
    assert propose_role(served_id) == role


def test_what_is_known_not_to_see_is_not_proposed_for_seeing() -> None:
    assert propose_role("qwen3-vl-235b", vision=False) == "general"
