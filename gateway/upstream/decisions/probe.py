"""Where a decision model answers, in which dialect, and which types of question: found by asking short ones.

Asks only the endpoint's own server, each place until one answers. What is found is for others to keep.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from gateway.upstream import complete
from gateway.upstream.contract import ErrorKind, Target, TypedKey, UpstreamError
from gateway.upstream.decisions import DIALECTS, ask, chat
from gateway.upstream.decisions.contract import TOY_OPTIONS, TOY_TEXT, at_one_place

# Whatever is asked next would end the same, and may cost another wait or another strike against the key.
HOPELESS: frozenset[ErrorKind] = frozenset(
    {"unauthorized", "payment_required", "rate_limited", "overloaded", "timeout", "unavailable"}
)
NOT_THERE = (404, 405)
# Hosts that answer elsewhere than under an endpoint's base URL.
_ELSEWHERE = {"openrouter.ai": ("/api/v1/systemone", "/api/alpha/decisions")}
LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What was found. `error` says what did not answer: with no `types`, why there are none."""

    dialect: str
    url: str = ""
    types: tuple[str, ...] = ()
    error: str = ""


def probe(endpoint: Target, *, typed_key: TypedKey | None = None) -> Probed:
    """Try every place in every dialect until one answers; each type of question is asked there once."""
    errors: list[str] = []
    not_there: set[str] = set()
    for url, dialect in _places(endpoint.base_url):
        if url in not_there:
            continue
        types, failures = _types_at(endpoint, url, dialect, typed_key)
        told = "; ".join(f"{kind}: {failure.message}" for kind, failure in failures)
        if types:
            return Probed(dialect=dialect, url=url, types=types, error=told[:LONGEST_ERROR])
        errors.append(f"{urlsplit(url).path}: {failures[0][1].message}")
        if failures[-1][1].kind in HOPELESS:
            break
        if failures[-1][1].status in NOT_THERE:
            not_there.add(url)
    return Probed(dialect="systemone", error="; ".join(dict.fromkeys(errors))[:LONGEST_ERROR])


def probe_chat(endpoint: Target, *, typed_key: TypedKey | None = None) -> Probed:
    """Ask a chat model to label the toy."""
    asked = replace(endpoint, options=chat.OPTIONS.get(endpoint.protocol, {}))
    try:
        answer = complete(asked, chat.build_messages(TOY_TEXT, TOY_OPTIONS, "Which is it?"), typed_key=typed_key)
        choice = chat.parse_answer(answer.text).choice
    except UpstreamError as error:
        return Probed(dialect="chat", error=error.message[:LONGEST_ERROR])
    if choice not in TOY_OPTIONS:
        return Probed(dialect="chat", error="it chose what was not among the options")
    return Probed(dialect="chat", types=("choice",))


def _types_at(
    endpoint: Target, url: str, dialect: str, typed_key: TypedKey | None
) -> tuple[tuple[str, ...], list[tuple[str, UpstreamError]]]:
    """The types answered at one place, and how the others failed; a place that is not there is asked once."""
    speaks = DIALECTS[dialect]
    types, failures = [], []
    for kind in speaks.TYPES:
        try:
            payload = ask(endpoint, url, speaks.build_toy(endpoint.model, kind), typed_key)
            if not speaks.answers_toy(kind, payload):
                raise UpstreamError("the reply has no answer of this type in it", kind="bad_reply")
            types.append(kind)
        except UpstreamError as error:
            failures.append((kind, error))
            if error.kind in HOPELESS or error.status in NOT_THERE:
                break
    return tuple(types), failures


def _places(base_url: str) -> Iterator[tuple[str, str]]:
    """Where a decision model may answer, and in which dialect: System One's own path first."""
    base = base_url.rstrip("/")
    parts = urlsplit(base)
    # Ollama's own protocol has no version in its base URL, its decisions do.
    versioned = base if "/v" in parts.path else f"{base}/v1"
    elsewhere = [f"{parts.scheme}://{parts.netloc}{path}" for path in _ELSEWHERE.get(parts.hostname or "", ())]
    places = dict.fromkeys([f"{versioned}/systemone", f"{versioned}/decisions", *elsewhere])
    for url in places:
        if at_one_place(url, base_url):
            yield url, "systemone"
    yield f"{versioned}/decisions", "openai"
