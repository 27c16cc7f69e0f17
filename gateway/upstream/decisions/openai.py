"""OpenAI's decisions: questions and answers in lists, each answer with its question's name; it may refuse one."""

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

TYPES: tuple[str, ...] = ("choice", "predicate", "score")


def build_choice(model: str, text: str, options: Mapping[str, str]) -> dict[str, Any]:
    """The JSON body that asks which of `options` (descriptions by name) `text` is."""
    return _request(model, text, {"type": "choice", "instructions": INSTRUCTIONS, "choices": _choices(options)})


def parse_choice(payload: Any) -> Decision:
    """Read the answer. Raises UpstreamError, also for a refusal."""
    reply = mapping_of(payload)
    answer = _answer(reply)
    if answer.get("type") == "refusal":
        raise UpstreamError("it refused to answer the question", kind="refused")
    choice = text_of(answer.get("choice"))
    if not choice:
        raise error_in(reply) if reply.get("error") else UpstreamError("the reply has no choice in it", kind="bad_reply")
    told = answer.get("probabilities")
    listed = [mapping_of(item) for item in told] if isinstance(told, list) else []
    shares = ((text_of(item.get("value")), share_of(item.get("probability"))) for item in listed)
    probabilities = {name: share for name, share in shares if name and share is not None}
    return Decision(
        choice=choice,
        confidence=sure_of(answer.get("confidence"), probabilities),
        source="openai",
        probabilities=probabilities,
    )


def build_toy(model: str, kind: str) -> dict[str, Any]:
    """The JSON body of one short question of a type."""
    asked: dict[str, dict[str, Any]] = {
        "choice": {"instructions": "Which is it?", "choices": _choices(TOY_OPTIONS)},
        "predicate": {"instructions": "Is it good news?"},
        "score": {"instructions": "How good is the news?", "levels": [_level(name) for name in ("bad", "good")]},
    }
    return _request(model, TOY_TEXT, {"type": kind, **asked[kind]})


def answers_toy(kind: str, payload: Any) -> bool:
    """Whether that question was answered as its type is."""
    answer = _answer(mapping_of(payload))
    if kind == "choice":
        return text_of(answer.get("choice")) in TOY_OPTIONS
    return answer.get("type") == kind and is_number(answer.get("probability" if kind == "predicate" else "score"))


def _answer(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    answers = reply.get("answers")
    listed = [mapping_of(answer) for answer in answers] if isinstance(answers, list) else []
    return next((answer for answer in listed if answer.get("name") == SHAPE), {})


def _choices(options: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"value": name, "description": description} for name, description in options.items()]


def _level(name: str) -> dict[str, str]:
    return {"label": name, "description": TOY_OPTIONS[name]}


def _request(model: str, text: str, question: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": model, "input": text, "questions": [{"name": SHAPE, **question}]}
