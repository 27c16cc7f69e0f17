"""System One: typed questions by name, answers under the same names (TypeSafe, OpenRouter, Ollama, Inception, llama.cpp)."""

from collections.abc import Mapping
from typing import Any

from gateway.upstream.classify import error_in
from gateway.upstream.contract import UpstreamError
from gateway.upstream.decisions.contract import (
    INSTRUCTIONS,
    SHAPE,
    TOY_OPTIONS,
    TOY_TEXT,
    Decision,
    is_number,
    share_of,
    sure_of,
)
from gateway.upstream.payload import mapping_of, text_of

# Not `box`, whose question is an image: none is ever sent here.
TYPES: tuple[str, ...] = ("choice", "noul", "score")
_TOYS: Mapping[str, Mapping[str, Any]] = {
    "choice": {"instructions": "Which is it?", "criteria": dict(TOY_OPTIONS)},
    "noul": {"instructions": "Is it good news?", "criteria": {"true": TOY_OPTIONS["good"], "false": TOY_OPTIONS["bad"]}},
    "score": {"instructions": "How good is the news?", "criteria": [TOY_OPTIONS["bad"], TOY_OPTIONS["good"]]},
}


def build_choice(model: str, text: str, options: Mapping[str, str]) -> dict[str, Any]:
    """The JSON body that asks which of `options` (descriptions by name) `text` is."""
    return _request(model, text, {"type": "choice", "instructions": INSTRUCTIONS, "criteria": dict(options)})


def parse_choice(payload: Any) -> Decision:
    """Read the answer; confidence and probabilities are each there or not. Raises UpstreamError."""
    reply = mapping_of(payload)
    answer = mapping_of(mapping_of(reply.get("answers")).get(SHAPE))
    choice = text_of(answer.get("choice"))
    if not choice:
        raise error_in(reply) if reply.get("error") else UpstreamError("the reply has no choice in it", kind="bad_reply")
    told = mapping_of(answer.get("probabilities"))
    probabilities = {name: share for name, value in told.items() if (share := share_of(value)) is not None}
    return Decision(
        choice=choice,
        confidence=sure_of(answer.get("confidence"), probabilities),
        source="systemone",
        probabilities=probabilities,
    )


def build_toy(model: str, kind: str) -> dict[str, Any]:
    """The JSON body of one short question of a type."""
    return _request(model, TOY_TEXT, {"type": kind, **_TOYS[kind]})


def answers_toy(kind: str, payload: Any) -> bool:
    """Whether that question was answered as its type is."""
    answer = mapping_of(mapping_of(mapping_of(payload).get("answers")).get(SHAPE))
    return text_of(answer.get("choice")) in TOY_OPTIONS if kind == "choice" else is_number(answer.get(kind))


def _request(model: str, text: str, question: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": model, "state": text, "questions": {SHAPE: dict(question)}}
