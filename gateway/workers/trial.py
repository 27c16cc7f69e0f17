"""Models that were just added, each tried with one short call: the same door, the same words for failures as a seat's.

Not part of any panel and of no call log: what is tried is whether a model answers at all, not what it is worth.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from threading import Event

from collections_app.catalog.onboarding.trying import Tried
from collections_app.models import LanguageModel
from gateway.chat import Message, TextPart
from gateway.reply import SeatAnswer
from gateway.upstream.contract import Target
from gateway.workers.key_ring import KeyRing
from gateway.workers.ledger import ledger
from gateway.workers.seat import SeatJob, ask_seat
from gateway.workers.target import target_of

PROMPT = (Message("user", (TextPart("Answer with one word: ready?"),)),)
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


def try_models(models: Sequence[LanguageModel]) -> Iterator[Tried]:
    """Ask each of `models` one word; yield how it went, in the order in which they end.

    One after the other at an endpoint, so that a rate of a few requests a minute is not used up at once; the endpoints
    beside each other. Nothing is asked twice.
    """
    by_endpoint: dict[int, list[LanguageModel]] = {}
    for model in models:
        by_endpoint.setdefault(model.endpoint_id, []).append(model)
    ended: SimpleQueue[Tried] = SimpleQueue()
    left = Event()
    keys = KeyRing(lambda read: ledger().run(read).result())
    threads = ThreadPoolExecutor(ENDPOINTS_AT_ONCE, thread_name_prefix="trial")
    try:
        for group in by_endpoint.values():
            threads.submit(_try_one_by_one, [(model, target_of(model)) for model in group], keys, left, ended.put)
        for _ in models:
            yield ended.get()
    finally:
        # Whoever waited may have left: what is being asked ends, the rest is not begun.
        left.set()
        threads.shutdown(wait=False)


def _try_one_by_one(
    models: Sequence[tuple[LanguageModel, Target]], keys: KeyRing, left: Event, tell: Callable[[Tried], None]
) -> None:
    why, in_a_row = "", 0
    for model, target in models:
        if left.is_set():
            return
        if in_a_row and in_a_row >= ALIKE.get(why, in_a_row + 1):
            tell(Tried(model, "not tried", kind=why, said="its endpoint's others have just failed so", to_do=TO_DO[why]))
            continue
        answer = _asked(model, _short(target), keys)
        if answer.error_kind == "refused" and "max_tokens" in answer.error:
            # Some newer models know the option by another name: then the answer is as long as they make it.
            answer = _asked(model, target, keys)
        in_a_row = in_a_row + 1 if answer.error_kind == why else 1
        why = answer.error_kind
        tell(_tried(model, answer))


def _asked(model: LanguageModel, target: Target, keys: KeyRing) -> SeatAnswer:
    return ask_seat(SeatJob(call="trial", alias=model.alias, target=target, messages=PROMPT), keys)


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
