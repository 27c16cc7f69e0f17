"""The client itself: one function for each thing that a bench does for its callers."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any

import httpx2
import orjson

from gateway.client.asking import Answer, Happening, Piece, Question, Seated, SeatEnded, Told, nobody
from gateway.client.errors import BenchError, CutOffError, RefusedError, UnreachableError
from gateway.client.reaching import http_client, panel_path
from gateway.client.reading import chunk_in, comment_in, events, refusal

# Between the end of a reply and the end of its seats' events, which come by another connection.
EVENTS_SECONDS = 10.0
Json = dict[str, Any]


class Bench:
    """A running bench at `url`, asked with `key` where it asks for keys. Use it as an async context manager.

    Raises UnreachableError for an address that is none, RefusedError for a key that is none.
    """

    def __init__(self, url: str, *, key: str = "", transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.url = url.rstrip("/")
        self._http = http_client(self.url, key, transport)

    async def __aenter__(self) -> "Bench":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        await self._http.aclose()

    async def collections(self) -> list[Json]:
        """Every collection that may be asked: `name`, description, tags, members and so on. Raises BenchError."""
        return list((await self._json("collections", "GET", "/bench/collections"))["collections"])

    async def panel(self, panel: str) -> Json:
        """A panel's `bench` object as far as it is, with `status` running, done or interrupted. Raises BenchError."""
        return await self._json("panel", "GET", panel_path(panel))

    async def owed(self, *, limit: int | None = None, panel: str = "") -> Json:
        """The newest answers without a verdict, of one panel or of all: `owed`, `more`, `verdict`. Raises BenchError."""
        wanted = {"limit": limit, "panel": panel}
        return await self._json("owed", "GET", "/bench/verdicts/owed", params={k: v for k, v in wanted.items() if v})

    async def verdict(self, call: str, useful: bool, **said: Any) -> Json:
        """Judge one seat's answer; `said`: note, real, false, score, correction. Raises BenchError.

        Returns `ok`, `call`, and `written`: False where this very verdict is on record already.
        """
        given = {name: value for name, value in said.items() if value is not None}
        return await self._json("written", "POST", "/bench/verdict", body={"call": call, "useful": useful, **given})

    async def ask(self, question: Question, told: Told = nobody) -> Answer:
        """Ask a panel and wait for its reply; `told` hears what happens meanwhile, one thing at a time.

        Raises RefusedError, UnreachableError, CutOffError; RefusedError also where no seat answered: `bench` has them then.
        Whoever stops waiting stops nothing: the panel goes on and is recorded.
        """
        watch = _Watch(self, told)
        try:
            async with self._sent("POST", "/v1/chat/completions", body=question.as_chat()) as response:
                bench = await self._read(response, watch)
            await watch.rest()
        except httpx2.RequestError as error:
            raise CutOffError(watch.panel) from error
        finally:
            await watch.stop()
        # A key may leave the field out of its replies; the call log has it all the same.
        bench = bench or {name: value for name, value in (await self.panel(watch.panel)).items() if name != "status"}
        return Answer(panel=bench["panel"], content="".join(watch.pieces), bench=bench)

    async def _read(self, response: httpx2.Response, watch: "_Watch") -> Json:
        """The reply's stream to its end. Returns the `bench` field, empty where it was left out."""
        bench: Json = {}
        async for event in events(response.aiter_bytes()):
            if said := comment_in(event, "panel"):
                await watch.seated(said)
            if event.data == "[DONE]":
                return bench
            if not event.data:
                continue
            text, field = chunk_in(self.url, event.data)
            bench = field or bench
            if text:
                await watch.piece(text)
        if not (watch.panel or watch.pieces):
            raise UnreachableError(self.url, "sent something else than a bench's stream.")
        raise CutOffError(watch.panel)

    async def follow(self, panel: str, told: Told) -> None:
        """Wait for a panel's end; `told` hears how many sit, then of each seat as it ends, and of those that have.

        Raises RefusedError, UnreachableError, CutOffError.
        """
        seats = [seat["call"] for seat in (await self.panel(panel))["seats"]]
        ended: set[str] = set()
        await told(SeatEnded(None, 0, len(seats)))
        async with self._sent("GET", f"{panel_path(panel)}/events") as response:
            async for seat in self._seats(response, panel):
                ended.add(seat["call"])
                await told(SeatEnded(seat, len(ended.intersection(seats)), len(seats)))

    async def _seats(self, response: httpx2.Response, panel: str) -> AsyncIterator[Json]:
        """The seats of a panel's events, as they end."""
        try:
            async for event in events(response.aiter_bytes()):
                if event.name == "seat":
                    seat: Json = orjson.loads(event.data)["seat"]
                    yield seat
        except (ValueError, LookupError, TypeError, httpx2.RequestError) as error:
            raise CutOffError(panel) from error

    async def _json(
        self, told: str, method: str, path: str, *, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> Json:
        """A reply that tells `told`, as no other server's does."""
        async with self._sent(method, path, body=body, params=params) as response:
            try:
                found = orjson.loads(await response.aread())
                return {told: found[told], **found}
            except (ValueError, LookupError, TypeError, httpx2.RequestError) as error:
                raise UnreachableError(self.url, "answered with something else than a bench's JSON.") from error

    @asynccontextmanager
    async def _sent(
        self, method: str, path: str, *, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> AsyncIterator[httpx2.Response]:
        """Send one request; the reply's body is still to be read. Raises RefusedError, UnreachableError."""
        try:
            request = self._http.build_request(method, self.url + path, json=body, params=params)
            response = await self._http.send(request, stream=True)
        except UnicodeEncodeError as error:
            raise RefusedError(400, "What was to be sent is no text: it holds bytes that are not UTF-8.") from error
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            why = str(error).rstrip(".") or type(error).__name__
            raise UnreachableError(self.url, f"does not answer: {why}.") from error
        try:
            if response.status_code != httpx2.codes.OK:
                raise await refusal(self.url, response)
            yield response
        finally:
            await response.aclose()


class _Watch:
    """What is told of one panel, by two connections: the reply's own pieces, and the ends of its seats beside them."""

    def __init__(self, bench: Bench, told: Told) -> None:
        self._bench = bench
        self._told = told
        self._turn = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self.panel = ""
        self.pieces: list[str] = []

    async def seated(self, panel: str) -> None:
        if panel and not self.panel:
            self.panel = panel
            await self._tell(Seated(panel))
            self._following = asyncio.ensure_future(self._follow())

    async def piece(self, text: str) -> None:
        self.pieces.append(text)
        await self._tell(Piece(text))

    async def rest(self) -> None:
        """Wait for the seats' last events, which may be on their way still. Raises what `told` raised."""
        if self._following:
            ended, _ = await asyncio.wait({self._following}, timeout=EVENTS_SECONDS)
            for one in ended:
                one.result()

    async def stop(self) -> None:
        if self._following:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def _follow(self) -> None:
        # Who sits and who has answered is for the eye: the reply is read by the other connection, and fails by itself.
        with suppress(BenchError):
            await self._bench.follow(self.panel, self._tell)

    async def _tell(self, what: Happening) -> None:
        async with self._turn:
            await self._told(what)
