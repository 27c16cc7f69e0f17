"""Who is asked while something breaks, and what each answers: text that says whose it is and to what, to its last word.

Plain values, shared by the upstream that answers and by the proofs that look for it.
"""

import re

# Milliseconds after which each has answered.
FIVE = ("m-100", "m-300", "m-700", "m-1500", "m-3000")
MERGER = "merge-200"
# Answers megabytes; and thinks for so long that its readers have nothing but keep-alives.
BIG, LONG = "big-100", "long-45000"
SEAT_TIMEOUT = 20

MARK = re.compile(r"q-[a-z0-9]+-[0-9]+")
END = re.compile(r"\[end of ([a-z0-9-]+) to (q-[a-z0-9]+-[0-9]+)\]")
_FILLER = "A stale read needs a second writer, and here there is only one; the lock is held until the row is durable. "
SIZE, BIG_SIZE = 1_000, 3_000_000


def answer_of(model: str, mark: str) -> str:
    """What a model answers to the question of this mark."""
    size = BIG_SIZE if model == BIG else SIZE
    return f"{model} to {mark}: {_FILLER * (size // len(_FILLER))}[end of {model} to {mark}]"


def seconds_of(model: str) -> float:
    return int(model.rpartition("-")[2]) / 1000


def bench_toml(upstream_url: str) -> str:
    """The roster as a bench.toml: members are retiring, so that nobody explores."""
    lines = []
    for endpoint, timeout in (("quick", SEAT_TIMEOUT), ("patient", 90)):
        lines += [f"[endpoints.{endpoint}]", 'protocol = "openai_chat"', f'base_url = "{upstream_url}/v1"']
        lines += [f"first_token_timeout = {timeout}", f"seat_timeout = {timeout}"]
    for model in (*FIVE, MERGER, BIG, LONG):
        endpoint = "patient" if model == LONG else "quick"
        lines += [f"[models.{model}]", f'endpoint = "{endpoint}"', f'model = "{model}"', 'status = "retiring"']
        lines += [f'family = ["{model}"]']
    for name, members in {"five": FIVE, "big": (BIG,), "long": (LONG,)}.items():
        listed = ", ".join(f'"{member}"' for member in members)
        lines += [f"[collections.{name}]", f"members = [{listed}]", 'description = "Faults"', 'shape = "general"']
        lines += [f'merger = "{MERGER}"'] if name == "five" else []
    return "\n".join([*lines, "[limits]", "max_calls = 5", "max_explorers = 0"]) + "\n"
