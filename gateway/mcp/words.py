"""What the tools say besides panels: collections, verdicts owed, refusals with what to do about them."""

from collections.abc import Iterator

from gateway.client import BenchError, CutOffError, RefusedError, UnreachableError
from gateway.mcp.results import Collection, Collections, Owed
from gateway.mcp.showing import quoted

NO_COLLECTION = "There is no collection that you may ask. Whoever runs this bench makes them in its dashboard."
NOTHING_OWED = "No answer waits for a verdict."
OTHERS_WAIT = "Others wait too: raise the limit, or look again once these are judged."
HOW_TO_START = "If no bench runs there, start one with `make run` or `python manage.py serve`, or set BENCHWARMERS_URL."
ASK_WITH_KEY = "Whoever set this tool up gives it a key: on stdio as BENCHWARMERS_KEY, over HTTP as Authorization: Bearer."


def collections_told(found: Collections) -> str:
    return "\n\n".join(map(_collection, found.collections)) or NO_COLLECTION


def owed_told(found: Owed) -> str:
    lines = [f"- {one.call} · {one.alias} · {one.collection} · {one.asked_at} · {one.question}" for one in found.owed]
    return "\n".join([*lines, *([OTHERS_WAIT] if found.more else [])]) or NOTHING_OWED


def refusal_told(error: BenchError, panel: str = "") -> str:
    """A refusal whole, and the way on where there is one. `panel` has an id already, so it goes on all the same."""
    return " ".join([str(error), *_way_on(error, panel)])


def _way_on(error: BenchError, panel: str) -> Iterator[str]:
    if isinstance(error, UnreachableError):
        yield HOW_TO_START
    if isinstance(error, RefusedError):
        yield f"(HTTP {error.status})" if error.wait is None else f"(HTTP {error.status}; not again before {error.wait:.0f} s.)"
        if error.status == 401:
            yield ASK_WITH_KEY
    if panel:
        yield f"The panel is on record all the same: get_panel(panel={quoted(panel)}) reads it."
    elif isinstance(error, CutOffError):
        yield "Where a panel was begun, it goes on: pending_verdicts lists it once it has answers, and get_panel reads it."


def _collection(row: Collection) -> str:
    window, able = row.together.get("context_window"), row.together.get("capabilities")
    facts = [
        f"tags: {', '.join(row.tags) or 'none'}",
        f"members: {', '.join(row.members)}",
        f"explorers: {row.explorers}",
        f"reply: {row.reply}",
        *([f"merger: {row.merger}"] if row.merger else []),
        *([f"shape: {row.shape}"] if row.shape else []),
        *([f"context window: {window:,} tokens"] if window else []),
        *([f"can: {', '.join(able)}"] if able else []),
    ]
    return f"{row.name}: {row.description}\n  {' · '.join(facts)}"
