"""Daphne with a clean stop: no new panels, running ones get their time, what is left is recorded as interrupted."""

import asyncio
import gc
import logging
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakSet

from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from django.db import Error
from twisted.internet import reactor

from benchsite.http.request import connected, unsent, use_bench_requests
from benchsite.log.sources import take_over
from evidence.processes.here import this_process
from evidence.processes.interrupting import interrupt_held, interrupt_running
from gateway.asked import App
from gateway.panel.running import running_panels
from gateway.workers import worker_pool
from gateway.workers.ledger import ledger

logger = logging.getLogger(__name__)

# Daphne's default backlog of 50 would reset some of 200 callers who come at once.
BACKLOG = 2048
# Daphne hands a body on in pieces; at its 8 kB a 20 MB body would be 2,500 messages.
BODY_PIECE_BYTES = 1 << 20
# How long a stop waits for a database that is busy or away, and for replies that end because it stops.
DATABASE_SECONDS = 5.0
LAST_WORDS_SECONDS = 2.0
# How long a process that turns callers over to others lets connections be used up that a proxy keeps, and then what came on
# the last of them be seated.
LAST_CALLERS_SECONDS = 1.0
# New objects, less those that went, after which the youngest are looked through for cycles; Python's own 700 are one request's.
COLLECT_AFTER = 20_000
INTERRUPTED = "the server was stopped before this seat had answered"


class PortKeepingServer(Server):
    """Daphne, with its ports kept, so that they can be closed before the server stops."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]
        self.ports: list[Any] = []

    def listen_success(self, port: Any) -> None:
        self.ports.append(port)
        super().listen_success(port)  # type: ignore[no-untyped-call]


class BenchServer:
    """One Daphne on one address, with signals of its own."""

    def __init__(
        self,
        application: App,
        *,
        bind: str,
        port: int,
        drain_seconds: float,
        ready: Callable[[], None],
        stopping: Callable[["BenchServer"], Awaitable[None]],
    ) -> None:
        interface = bind.replace(":", r"\:")
        self._drain_seconds = drain_seconds
        self._stopping: asyncio.Task[None] | None = None
        self._hurried = False
        self._deadline = 0.0
        self._channels: WeakSet[Any] = WeakSet()
        self._server: Any = PortKeepingServer(
            application,
            endpoints=[f"tcp:port={port}:interface={interface}:backlog={BACKLOG}"],
            signal_handlers=False,
            request_buffer_size=BODY_PIECE_BYTES,
            server_name="",
            verbosity=0,
        )
        self._ready = ready
        self._on_stop = stopping
        self.listening = False

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT. A second signal stops at once."""
        take_over()
        reactor.callWhenRunning(self._started)
        self._server.run()

    def _started(self) -> None:
        # The endpoint listens, or has failed to, before the reactor runs its first turn.
        self.listening = bool(self._server.listening_addresses)
        if not self.listening:
            return
        use_bench_requests(self._server.http_factory, self._channels)
        keep_for_good()
        loop = asyncio.get_event_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled)
        self._ready()

    def _signalled(self) -> None:
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._drain())
        else:
            self._hurried = True

    async def _drain(self) -> None:
        self._deadline = time.monotonic() + self._drain_seconds
        try:
            await self._on_stop(self)
        except Exception:
            # The stop's boundary: the server has to end, whatever does not.
            logger.exception("The stop did not begin as it should; it goes on")
        worker_pool().close()
        if running_panels():
            logger.info("Stopping: running panels get up to %g s; another signal stops at once", self._drain_seconds)
        await self._until_not(self._busy)
        await self._interrupt()
        running_panels().interrupt(INTERRUPTED)
        self._hurried, self._deadline = False, time.monotonic() + LAST_WORDS_SECONDS
        await self._until_not(self._busy)
        self._server.stop()

    async def leave_callers_to_others(self) -> None:
        """Listen no more and keep no connection for a next request: what balances among processes goes to another.

        Whoever has asked by now, and whoever is just asking, is answered: a proxy that is hung up on may not ask again
        elsewhere what it has already sent here.
        """
        for port in self._server.ports:
            # Connections that the kernel has taken already would be reset; Twisted takes as many as came at once last time.
            port.numberAccepts = BACKLOG
            port.doRead()
            port.stopListening()
        for channel in connected(self._channels):
            channel.leave()
        await asyncio.sleep(LAST_CALLERS_SECONDS)
        for channel in connected(self._channels):
            channel.hang_up()
        await self._until_not(lambda: any(channel.comes for channel in connected(self._channels)))
        await asyncio.sleep(LAST_CALLERS_SECONDS)

    async def _until_not(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds no more, the time of the stop is over, or somebody hurries."""
        while holds() and time.monotonic() < self._deadline and not self._hurried:
            await asyncio.sleep(0.05)

    async def _interrupt(self) -> None:
        """Record what still runs as interrupted. A database that does not answer is not waited for: the next start does it."""
        recording = asyncio.wrap_future(ledger().run_last(_interrupt_own))
        try:
            interrupted = await asyncio.wait_for(recording, DATABASE_SECONDS)
        except (TimeoutError, Error):
            logger.warning("The database does not answer; the next start, or another process, records what was interrupted")
            return
        if interrupted:
            logger.warning("Stopped with %s seats unanswered; they are recorded as interrupted", interrupted)

    def _busy(self) -> bool:
        """Whether any seat is being asked, any panel followed or any reply still written."""
        # An open page of the dashboard's listens for as long as it is open.
        instances = (
            details.get("application_instance")
            for connection, details in self._server.connections.items()
            if not isinstance(connection, WebSocketProtocol)
        )
        replying = any(instance is not None and not instance.done() for instance in instances)
        return replying or bool(worker_pool().running or running_panels() or unsent(self._channels))


def keep_for_good() -> None:
    """Have the collector of cycles pass over all that is loaded by now, and look less often at what requests leave behind."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def _interrupt_own() -> int:
    """End what this process has left running: all that runs, or, of several processes, what it holds. Returns how many."""
    name = this_process().name
    return interrupt_held(INTERRUPTED, name).calls if name else interrupt_running(INTERRUPTED)
