"""Run the bench: gateway, dashboard, seat pool, daily jobs and local endpoint, in one process on one port.

With --web it is one of several, each gateway and dashboard: their seats are told apart, and daily jobs are another's.
"""

import logging
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from benchsite.asgi import application
from benchsite.jobs.claims import set_up
from benchsite.jobs.daily import JOBS
from benchsite.jobs.thread import daily_jobs
from benchsite.processes.data_folder import FolderInUseError, owned, settle
from benchsite.processes.memory import keep_few_arenas
from benchsite.processes.pulse import others_seen, pulse
from benchsite.server import BenchServer
from collections_app.local.endpoint import local_endpoint
from collections_app.management.base import BenchCommand
from evidence.models import Process
from evidence.processes.here import this_process
from evidence.processes.interrupting import interrupt_running
from evidence.processes.watch import GONE_AFTER_SECONDS
from gateway.telemetry.spans import send_what_is_left
from gateway.workers import worker_pool

logger = logging.getLogger(__name__)

BESIDE = "Stop what runs first, start this with --web where that was too, or set BENCH_DATA_DIR to another folder."
KILLED = "the server was killed before this seat had answered"


class Command(BenchCommand):
    help = "Serve the gateway and the dashboard on BENCH_BIND:BENCH_PORT (127.0.0.1:8123) until SIGTERM or Ctrl-C."
    example = "BENCH_PORT=8200 python manage.py serve"

    def add_arguments(self, parser: CommandParser) -> None:
        about = "be one of several web processes on one database; then `manage.py migrate` and Celery beat are yours to run"
        parser.add_argument("--web", action="store_true", help=about)

    def handle(self, *args: Any, **options: Any) -> None:
        keep_few_arenas()
        try:
            with owned(settings.BENCH_DATA_DIR, shared=options["web"]):
                self._serve_with_others() if options["web"] else self._serve_alone()
        except FolderInUseError as error:
            raise CommandError(f"{error} {BESIDE}") from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted before it had started.") from None

    def _serve_alone(self) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        if others := others_seen(within=timedelta(seconds=GONE_AFTER_SECONDS)):
            raise CommandError(f"{others} web processes of this bench are running on its database. {BESIDE}")
        set_up(JOBS, timezone.now())
        if not worker_pool().asks_here:
            # Workers go on with what they had begun before this start.
            this_process().join(Process.Kind.WEB)
        elif interrupted := interrupt_running(KILLED):
            self._say(f"{interrupted} seats were left running by a server that was killed; they are recorded as interrupted.")
        with local_endpoint(report=self._say):
            self._run(ready=self._started, stopping=_stop_daily_jobs)
        daily_jobs().close()
        self._end()

    def _serve_with_others(self) -> None:
        this_process().join(Process.Kind.WEB)
        self._tell_what_is_missing()
        self._run(ready=self._joined, stopping=BenchServer.leave_callers_to_others)
        self._end()

    def _tell_what_is_missing(self) -> None:
        try:
            executor = MigrationExecutor(connection)
            missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        except Error as error:
            return self._say(f"The database does not answer ({type(error).__name__}): /readyz says when it does.")
        finally:
            connection.close()
        if missing:
            self._say(f"{missing} migrations are missing: run `manage.py migrate`; until then /readyz says so.")

    def _run(self, *, ready: Callable[[], None], stopping: Callable[[BenchServer], Awaitable[None]]) -> None:
        server = BenchServer(
            application,
            bind=settings.BENCH_BIND,
            port=settings.BENCH_PORT,
            drain_seconds=settings.BENCH_DRAIN_SECONDS,
            ready=ready,
            stopping=stopping,
        )
        server.run()
        if not server.listening:
            raise CommandError(f"Port {settings.BENCH_PORT} is taken. Set BENCH_PORT to another, or stop what listens there.")

    def _end(self) -> None:
        with suppress(Error):
            if this_process().name:
                this_process().leave()
            settle()
        send_what_is_left()
        self._say("Stopped.")
        # Not sys.exit: Python would wait for every seat's thread, and one that hangs holds on until its time-out.
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)

    def _started(self) -> None:
        self._announce()
        if this_process().name:
            pulse().start()
        if settings.BENCH_DAILY_JOBS:
            daily_jobs().start()

    def _joined(self) -> None:
        self._announce()
        self._say(f"  as                {this_process().name}, one of several")
        pulse().start()

    def _announce(self) -> None:
        name = f"[{settings.BENCH_BIND}]" if ":" in settings.BENCH_BIND else settings.BENCH_BIND
        served = f"http://{name}:{settings.BENCH_PORT}"
        base_url = settings.BENCHWARMERS_PUBLIC_URL or served
        self._say(f"Benchsite {settings.BENCH_VERSION} serves {served}")
        self._say(f"  dashboard         {base_url}/admin/")
        self._say(f"  OpenAI base URL   {base_url}/v1")

    def _say(self, line: str) -> None:
        if settings.BENCH_LOG_FORMAT == "json":
            # For whoever collects lines, not for somebody at a terminal: all of them in one form.
            return logger.info("%s", line.strip())
        self.stdout.write(line)
        self.stdout.flush()


async def _stop_daily_jobs(_: BenchServer) -> None:
    daily_jobs().stop()
