"""What `onboard` does at one endpoint: its models listed, chosen, added, tried; told in tables or as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from collections_app.catalog.onboarding.adding import add_models
from collections_app.catalog.onboarding.candidates import Candidate
from collections_app.catalog.onboarding.serving import Choice, list_models, served_at
from collections_app.catalog.onboarding.trying import Tried, trial
from collections_app.models import Endpoint, LanguageModel
from gateway.management.terminal import Terminal

MOST_LISTED = 60
FREE_WORDS = {"zero": "price zero", "quota": "free quota", "local": "local", "plan": "in a plan"}


@dataclass(frozen=True, slots=True)
class Wish:
    """Which models are to be added: those of these ids, all that are free, or everything.

    Everything with ids: those of them that are listed, since of several servers each has its own.
    """

    ids: Sequence[str] = ()
    all_free: bool = False
    everything: bool = False


@dataclass(slots=True)
class Done:
    """What was found and done at one endpoint; `problem`: why it could not be asked for its list."""

    endpoint: Endpoint
    problem: str
    choices: Sequence[Choice]
    added: Sequence[LanguageModel] = ()
    refused: Sequence[str] = ()
    tried: list[Tried] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "endpoint": self.endpoint.name,
            "base_url": self.endpoint.base_url,
            "problem": self.problem,
            "models": [_choice_as_json(choice) for choice in self.choices],
            "added": [_model_as_json(model) for model in self.added],
            "refused": list(self.refused),
            "tried": [_tried_as_json(tried) for tried in self.tried],
        }


def onboard_models(endpoint: Endpoint, wish: Wish, terminal: Terminal) -> Done:
    """List what `endpoint` serves, add what is wished for or chosen at the terminal, and try that."""
    terminal.under_way(f"Asking {endpoint.name} for its models…")
    problem = list_models(endpoint)
    serving = served_at(endpoint)
    done = Done(endpoint, problem, serving.choices)
    terminal.say()
    terminal.say(f"{endpoint.name}, {endpoint.base_url}")
    if problem:
        terminal.say(f"  It could not be asked for its models: {problem}.")
    chosen = _chosen(serving.choices, wish, endpoint)
    if not chosen:
        _list(serving.choices, own=serving.own, terminal=terminal)
        chosen = _asked_for(serving.choices, endpoint, terminal)
    if not chosen:
        return done
    added = add_models(endpoint, chosen)
    done.added, done.refused = added.models, added.refused
    for why in added.refused:
        terminal.say(f"  Not added: {why}")
    _tell_added(added.models, terminal)
    _try(added.with_here, done, terminal)
    return done


def _chosen(choices: Sequence[Choice], wish: Wish, endpoint: Endpoint) -> list[Candidate]:
    if wish.everything:
        return [choice.candidate for choice in choices if not wish.ids or choice.candidate.served_id in wish.ids]
    if wish.ids:
        return _named(wish.ids, choices, endpoint)
    return [choice.candidate for choice in choices if wish.all_free and choice.candidate.is_free and not choice.here]


def _named(ids: Iterable[str], choices: Sequence[Choice], endpoint: Endpoint) -> list[Candidate]:
    """The models of these ids; one that nobody lists is taken at its word."""
    known = {choice.candidate.served_id: choice.candidate for choice in choices}
    return [known.get(served_id) or Candidate(endpoint.name, served_id) for served_id in ids]


def _asked_for(choices: Sequence[Choice], endpoint: Endpoint, terminal: Terminal) -> list[Candidate]:
    if not terminal.asks:
        if choices:
            terminal.say("  Nothing was added. Say which: --add ID ..., or --all-free.")
        return []
    words = terminal.ask("Which? Ids or numbers with spaces between, free for all that are free, nothing for none: ").split()
    if words == ["free"]:
        return _chosen(choices, Wish(all_free=True), endpoint)
    numbers = {str(number): choice.candidate.served_id for number, choice in enumerate(choices, 1)}
    return _named([numbers.get(word, word) for word in words], choices, endpoint)


def _list(choices: Sequence[Choice], *, own: bool, terminal: Terminal) -> None:
    if not choices:
        terminal.say("  No chat model is known there: --add takes an id that nobody lists.")
        return
    terminal.say(f"  {len(choices)} chat models{'' if own else ', as catalogs list them'}, free first:")
    rows = [_row(number, choice) for number, choice in enumerate(choices[:MOST_LISTED], 1)]
    terminal.table(["", "id", "terms", "window", "takes", "here"], rows)
    if len(choices) > MOST_LISTED:
        terminal.say(f"  … and {len(choices) - MOST_LISTED} more; --json lists them all.")


def _row(number: int, choice: Choice) -> list[str]:
    one = choice.candidate
    takes = [name for name, can in (("images", one.vision), ("tools", one.tools)) if can]
    return [
        str(number),
        one.served_id,
        FREE_WORDS.get(one.free, ""),
        f"{one.context_window:,}" if one.context_window else "unknown",
        " ".join(takes),
        ", ".join(model.alias for model in choice.here),
    ]


def _tell_added(models: Sequence[LanguageModel], terminal: Terminal) -> None:
    if models:
        terminal.say(f"  Added {len(models)} model{'' if len(models) == 1 else 's'}:")
        terminal.table(["alias", "id", "role", "window"], [[m.alias, m.served_id, m.role, _window(m)] for m in models])


def _window(model: LanguageModel) -> str:
    held = model.known.held("context_window")
    return f"{held.value:,} ({held.by})" if held else "unknown"


def _try(models: Sequence[LanguageModel], done: Done, terminal: Terminal) -> None:
    terminal.under_way(f"Trying {len(models)} models at {done.endpoint.name}…")
    for tried in trial()(models, Event()):
        done.tried.append(tried)
        terminal.under_way(f"Tried {len(done.tried)} of {len(models)} at {done.endpoint.name}: {tried.model.alias}")
    terminal.under_way("")
    terminal.say("  Tried, each with one short call:")
    terminal.table(
        ["alias", "outcome", "seconds", "what it said, or why not and what to do"], [_tried_row(t) for t in done.tried]
    )


def _tried_row(tried: Tried) -> list[str]:
    seconds = f"{tried.seconds:.1f}" if tried.seconds else ""
    return [tried.model.alias, tried.outcome, seconds, f"{tried.said} {tried.to_do}".strip()]


def _choice_as_json(choice: Choice) -> dict[str, Any]:
    one = choice.candidate
    return {
        "id": one.served_id,
        "name": one.name,
        "free": one.free,
        "context_window": one.context_window,
        "vision": one.vision,
        "tools": one.tools,
        "here": [model.alias for model in choice.here],
    }


def _model_as_json(model: LanguageModel) -> dict[str, Any]:
    held = model.known.held("context_window")
    return {
        "alias": model.alias,
        "id": model.served_id,
        "role": model.role,
        "context_window": held.value if held else None,
        "context_window_by": held.by if held else None,
    }


def _tried_as_json(tried: Tried) -> dict[str, Any]:
    return {
        "alias": tried.model.alias,
        "outcome": tried.outcome,
        "seconds": round(tried.seconds, 3),
        "said": tried.said,
        "kind": tried.kind,
        "to_do": tried.to_do,
    }
