"""Models that were just added, each tried with one short call: the same door, the same words for failures as a seat's.

Not part of any panel and of no call log: what is tried is whether a model answers at all, not what it is worth.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from threading import Event

from collections_app.catalog.onboarding.trying import Tried
from collections_app.models import LanguageModel
from collections_app.models.health import Quota
from collections_app.selectors import quotas_by_model
from gateway.chat import Message, TextPart
from gateway.reply import SeatAnswer
from gateway.upstream.contract import Target
from gateway.workers.ended import Ended, follow_up
from gateway.workers.job import SeatJob, job_for
from gateway.workers.key_ring import KeyRing
from gateway.workers.ledger import ledger
from gateway.workers.seat import ask_seat
from gateway.workers.turnstile import Turnstile

PROMPT = (Message("user", (TextPart("Answer with one word: ready?"),)),)
PROMPT_TOKENS = 10
# Enough for a word, and no less than every provider takes.
MOST_TOKENS = 16
# Where the option has another name, or none.
LIMIT_OPTIONS = {"openai_responses": "max_output_tokens", "llm_cli": ""}
# Seconds: a provider that loads a model first takes minutes, and whoever waits for a trial does not.
LONGEST = 90.0
ENDPOINTS_AT_ONCE = 8
LONGEST_SHOWN = 100
# After so many of these in a row the endpoint's other models would fare alike, and each call would count.
ALIKE = {"unauthorized": 1, "unavailable": 1, "rate_limited": 2}

TO_DO = {
    "unauthorized": "Check the key: is it this provider's, and whole? It is in the environment or on the endpoint's page.",
    "payment_required": "It asks for money or credit: add some at the provider, or retire it here.",
    "rate_limited": "Nothing: it is there, and busy or over its limit. It sits again when the wait is over.",
    "not_found": "It is listed and cannot be called by this account: retire it, or ask the provider for access.",
    "maybe_gone": "It is listed and seems not to be served: try it again later, or retire it.",
    "no_access": "This account may not call it: accept its terms at the provider, or retire it.",
    "retired": "Its provider has retired it: retire it here, and add its successor.",
    "wrong_endpoint": "It speaks another protocol: add an endpoint of the same provider with that protocol.",
    "context_too_long": "Its window is smaller than a question: retire it.",
    "timeout": "It may have been loading: try it again in some minutes.",
    "unavailable": "Nobody answers there: check the base URL, and whether the server runs.",
    "overloaded": "Nothing: it is overloaded now. Try it again later.",
    "bad_reply": "What came was no answer: check the base URL and the protocol of the endpoint.",
    "refused": "It refused a plain question: see what it says, and set its call options.",
}


def try_models(models: Sequence[LanguageModel], left: Event) -> Iterator[Tried]:
    """Ask each of `models` one word; yield how it went, in the order in which they end. After `left` nobody is asked.

    One after the other at an endpoint, so that a rate of a few requests a minute is not used up at once; the endpoints
    beside each other. Nothing is asked twice.
    """
    by_endpoint: dict[int, list[LanguageModel]] = {}
    for model in models:
        by_endpoint.setdefault(model.endpoint_id, []).append(model)
    quotas = quotas_by_model(models)
    ended: SimpleQueue[tuple[Tried, Sequence[Ended]]] = SimpleQueue()
    keys = KeyRing(lambda read: ledger().run(read).result())
    turnstile = Turnstile(lambda reserve: ledger().run(reserve).result())
    threads = ThreadPoolExecutor(ENDPOINTS_AT_ONCE, thread_name_prefix="trial")
    try:
        for group in by_endpoint.values():
            jobs = [(model, _job(model, quotas[model.pk])) for model in group]
            threads.submit(_try_one_by_one, jobs, partial(ask_seat, keys=keys, turnstile=turnstile), left, ended.put)
        for _ in models:
            tried, calls = ended.get()
            # Here, where the database may be touched: a trial is a call, and tells as much as a seat's.
            follow_up(calls)
            yield tried
    finally:
        left.set()
        threads.shutdown(wait=False)


def _try_one_by_one(
    jobs: Sequence[tuple[LanguageModel, SeatJob]],
    ask: Callable[[SeatJob], Ended],
    left: Event,
    tell: Callable[[tuple[Tried, Sequence[Ended]]], None],
) -> None:
    why, in_a_row = "", 0
    for model, job in jobs:
        if left.is_set():
            tell((Tried(model, "not tried", said="whoever waited for it has left"), ()))
            continue
        if in_a_row and in_a_row >= ALIKE.get(why, in_a_row + 1):
            said = "its endpoint's others have just failed so"
            tell((Tried(model, "not tried", kind=why, said=said, to_do=TO_DO[why]), ()))
            continue
        calls = [ask(replace(job, target=_short(job.target)))]
        if calls[0].answer.error_kind == "refused" and "max_tokens" in calls[0].answer.error:
            # Some newer models know the option by another name: then the answer is as long as they make it.
            calls.append(ask(job))
        answer = calls[-1].answer
        in_a_row = in_a_row + 1 if answer.error_kind == why else 1
        why = answer.error_kind
        tell((_tried(model, answer), calls))


def _job(model: LanguageModel, quotas: tuple[Quota, ...]) -> SeatJob:
    # A name of its own: two trials are two requests.
    return job_for(model, quotas, call=f"trial-{secrets.token_hex(4)}", messages=PROMPT, tokens=PROMPT_TOKENS)


def _short(target: Target) -> Target:
    """The same call with a short answer and a short wait for it; where the model's own options say how long, they hold."""
    name = LIMIT_OPTIONS.get(target.protocol, "max_tokens")
    return replace(
        target,
        options={**({name: MOST_TOKENS} if name else {}), **target.options},
        first_token_timeout=min(target.first_token_timeout, LONGEST),
        seat_timeout=min(target.seat_timeout, LONGEST),
    )


def _tried(model: LanguageModel, answer: SeatAnswer) -> Tried:
    if answer.status == "error":
        to_do = TO_DO.get(answer.error_kind, "See what it says, and try it again.")
        return Tried(model, "failed", seconds=answer.seconds, said=answer.error, kind=answer.error_kind, to_do=to_do)
    # Cut off while it thought, or silent: it was called, and took the call.
    said = " ".join(answer.answer.split()) or answer.error or "nothing, and ended well"
    return Tried(
        model, "answered", seconds=answer.seconds, said=said if len(said) <= LONGEST_SHOWN else f"{said[:LONGEST_SHOWN]}…"
    )
