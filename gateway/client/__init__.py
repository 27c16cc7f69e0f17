"""A client of a running bench, for commands and agents: what it can be asked, a panel asked and watched, verdicts.

    async with Bench("http://127.0.0.1:8123", key="bwk_...") as bench:
        rows = await bench.collections()
        answer = await bench.ask(Question("core", "Is there a race here?"), told=show)
        panel = await bench.panel(answer.panel)
        await bench.verdict(panel["seats"][0]["call"], useful=True)
        page = await bench.owed(limit=5)

Each asks the bench's own routes, so keys, scopes and limits are the bench's to judge. What it refuses is RefusedError, in its
own words; no answer at all is UnreachableError; a stream that ends too early is CutOffError. All three are BenchError.

Knows no row, no panel and no format but the one that it asks in. How it reaches the bench is an httpx2 transport: none for
HTTP, `InProcess(app)` for an ASGI app of this process, such as the edge.
"""

from gateway.client.asking import Answer, Happening, Piece, Question, Seated, SeatEnded
from gateway.client.bench import Bench
from gateway.client.errors import BenchError, CutOffError, RefusedError, UnreachableError
from gateway.client.in_process import InProcess

__all__ = [
    "Answer",
    "Bench",
    "BenchError",
    "CutOffError",
    "Happening",
    "InProcess",
    "Piece",
    "Question",
    "RefusedError",
    "SeatEnded",
    "Seated",
    "UnreachableError",
]
