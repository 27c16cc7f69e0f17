"""The tools: what an agent does with a bench, each in terms of the client. What the bench refuses, the agent reads whole."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from gateway.client import Bench, BenchError, Question
from gateway.mcp.reading import page_of
from gateway.mcp.results import Collections, Owed, PanelPage, Verdict, both
from gateway.mcp.waiting import Watch
from gateway.mcp.words import collections_told, owed_told, refusal_told

# A client that knows no better gives a tool up after a minute.
WAIT_SECONDS = 50.0
READ_WAIT_SECONDS = 30.0
MOST_WAIT_SECONDS = 900.0
OWED_AT_ONCE = 20
MOST_OWED_AT_ONCE = 100

_REPLY: Mapping[bool | None, Literal["all", "merged"] | None] = {None: None, True: "merged", False: "all"}
# The bench as whoever sent this call may use it.
BenchFor = Callable[[Context[Any, Any]], Bench]
Wait = Annotated[float, Field(ge=0, le=MOST_WAIT_SECONDS, description="seconds until you get what there is so far")]


class Tools:
    """One method for each tool, whose parameters are the tool's."""

    def __init__(self, bench_for: BenchFor) -> None:
        self._bench_for = bench_for

    async def list_collections(self, ctx: Context) -> Annotated[CallToolResult, Collections]:
        async with self._bench(ctx) as bench:
            found = Collections.model_validate({"collections": await bench.collections()})
        return both(collections_told(found), found)

    async def ask(  # noqa: PLR0913 (one for each of the tool's)
        self,
        ctx: Context,
        collection: Annotated[str, Field(description="as list_collections names it, such as bench/core")],
        prompt: Annotated[str, Field(min_length=1, description="the question, with all that is needed to answer it")],
        merged: Annotated[
            bool | None,
            Field(description="true: one answer, written from all by one more model; false: every answer; null: its own way"),
        ] = None,
        nominated: Annotated[
            Sequence[str], Field(alias="with", description="aliases of models that are to sit too, in explorers' places")
        ] = (),
        system: Annotated[str, Field(description="a system prompt for every seat")] = "",
        wait: Wait = WAIT_SECONDS,
    ) -> Annotated[CallToolResult, PanelPage]:
        question = Question(collection, prompt, system=system, nominated=tuple(nominated), reply=_REPLY[merged])
        watch = Watch(ctx.report_progress)

        async def work() -> None:
            async with self._bench(ctx, watch) as bench:
                watch.panel = (await bench.ask(question, watch.hear)).panel

        await watch.until_ended(work(), wait)
        async with self._bench(ctx, watch) as bench:
            return page_of(await bench.panel(watch.panel))

    async def get_panel(
        self,
        ctx: Context,
        panel: Annotated[str, Field(description="a panel's id; or a call id, for that seat's own answer")],
        page: Annotated[int, Field(ge=1, description="which page of a long one")] = 1,
        wait: Wait = READ_WAIT_SECONDS,
    ) -> Annotated[CallToolResult, PanelPage]:
        panel_id, dot, _ = panel.partition(".")
        async with self._bench(ctx) as bench:
            found = await bench.panel(panel_id)
        if found["status"] == "running" and wait:
            found = await self._later(ctx, found, wait)
        return page_of(found, call=panel if dot else "", number=page)

    async def verdict(
        self,
        ctx: Context,
        call: Annotated[str, Field(description="the seat's call id, such as p20260102-150405-7f3a.member1")],
        useful: Annotated[bool, Field(description="whether the answer helped, once checked")],
        note: Annotated[str, Field(description="why, in a line")] = "",
        real: Annotated[Sequence[str], Field(description="claims that proved true and mattered")] = (),
        false: Annotated[Sequence[str], Field(description="claims that proved wrong")] = (),
    ) -> Annotated[CallToolResult, Verdict]:
        async with self._bench(ctx) as bench:
            done = await bench.verdict(call, useful, note=note, real=list(real), false=list(false))
        said = "is on record" if done["written"] else "was on record already: nothing changed"
        return both(f"The verdict on {call} {said}.", Verdict(call=done["call"], written=done["written"]))

    async def pending_verdicts(
        self,
        ctx: Context,
        panel: Annotated[str, Field(description="of this panel alone; empty: of all")] = "",
        limit: Annotated[int, Field(ge=1, le=MOST_OWED_AT_ONCE, description="how many at once")] = OWED_AT_ONCE,
    ) -> Annotated[CallToolResult, Owed]:
        async with self._bench(ctx) as bench:
            found = Owed.model_validate(await bench.owed(limit=limit, panel=panel))
        return both(owed_told(found), found)

    async def _later(self, ctx: Context, panel: dict[str, Any], seconds: float) -> dict[str, Any]:
        """A panel that is still thinking, once it has ended or so much time has passed."""
        watch = Watch(ctx.report_progress, panel["panel"])

        async def work() -> None:
            async with self._bench(ctx, watch) as bench:
                await bench.follow(watch.panel, watch.hear)

        await watch.until_ended(work(), seconds)
        async with self._bench(ctx, watch) as bench:
            return await bench.panel(watch.panel)

    @asynccontextmanager
    async def _bench(self, ctx: Context, watch: Watch | None = None) -> AsyncIterator[Bench]:
        """The bench, with what it refuses as the error that an agent reads."""
        try:
            async with self._bench_for(ctx) as bench:
                yield bench
        except BenchError as error:
            raise ToolError(refusal_told(error, watch.panel if watch else "")) from error
