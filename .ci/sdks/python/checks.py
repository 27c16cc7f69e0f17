"""What every script here shares: where the server is, what its models say, and how each check's end is told.

Run by an SDK of a previous generation, in an environment of its own: nothing of Benchsite can be imported here.
"""

import json
import os
import time
import traceback
from collections.abc import Callable, Iterable
from importlib.metadata import version

BASE_URL = os.environ["BASE_URL"]
# A picture of this SDK's own, in base64, by which the upstream tells whose it was.
IMAGE = os.environ["IMAGE"]
PROMPT = "Say anything."
PAIR, SEEING, UNKNOWN = "bench/pair", "bench/seeing", "bench/nowhere"
ANSWERS = ("No stale read.", "The answer is 42.")
SIGHT = "I see."
# One seat of the pair answers 0.3 s after the other: a stream that is held back would bring both at once.
APART_SECONDS = 0.1


def run(package: str, *checks: Callable[[], None]) -> None:
    """Run the checks and print, a line of JSON each, which version was used and how each ended."""
    print(json.dumps({"version": f"{package} {version(package)}"}), flush=True)
    for check in checks:
        try:
            check()
        except Exception:  # noqa: BLE001 - whatever an SDK raises is this check's result, and the next still runs
            print(json.dumps({"check": check.__name__, "failed": traceback.format_exc()}), flush=True)
        else:
            print(json.dumps({"check": check.__name__}), flush=True)


def holds_answers(content: str | None) -> None:
    assert content is not None
    assert all(answer in content for answer in ANSWERS), content


def read_as_it_comes(pieces: Iterable[str | None]) -> str:
    """Join a stream's pieces, seeing that the answers arrived apart."""
    text, arrived = "", {}
    for piece in pieces:
        text += piece or ""
        for answer in ANSWERS:
            if answer in text:
                arrived.setdefault(answer, time.monotonic())
    holds_answers(text)
    assert abs(arrived[ANSWERS[1]] - arrived[ANSWERS[0]]) > APART_SECONDS, arrived
    return text


def refused(call: Callable[[], object], error_class: type[Exception], status: int, words: str) -> None:
    """See that a call fails as the SDK says a refusal does, with the gateway's words."""
    try:
        call()
    except error_class as error:
        found = next(getattr(error, name) for name in ("status_code", "code") if hasattr(error, name))
        assert found == status, f"{found}: {error}"
        assert words in str(error), str(error)
    else:
        raise AssertionError("it was not refused")
