"""Run the bench: gateway, dashboard, seat pool, daily jobs and local endpoint, in one process on one port."""

import logging
import os
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from benchsite.asgi import application
from benchsite.data_folder import FolderInUseError, owned, settle
from benchsite.jobs.claims import set_up
from benchsite.jobs.daily import JOBS
from benchsite.jobs.thread import daily_jobs
from benchsite.server import BenchServer
from collections_app.local.endpoint import local_endpoint
from collections_app.management.base import BenchCommand
from evidence.processes.interrupting import interrupt_running
from gateway.telemetry.spans import send_what_is_left

logger = logging.getLogger(__name__)

KILLED = "the server was killed before this seat had answered"


class Command(BenchCommand):
    help = "Serve the gateway and the dashboard on BENCH_BIND:BENCH_PORT (127.0.0.1:8123) until SIGTERM or Ctrl-C."
    example = "BENCH_PORT=8200 python manage.py serve"

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with owned(settings.BENCH_DATA_DIR):
                self._serve()
        except FolderInUseError as error:
            raise CommandError(f"{error} Stop it first, or set BENCH_DATA_DIR to another folder.") from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted before it had started.") from None

    def _serve(self) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        set_up(JOBS, timezone.now())
        if interrupted := interrupt_running(KILLED):
            self._say(f"{interrupted} seats were left running by a server that was killed; they are recorded as interrupted.")
        with local_endpoint(report=self._say):
            server = BenchServer(
                application,
                bind=settings.BENCH_BIND,
                port=settings.BENCH_PORT,
                drain_seconds=settings.BENCH_DRAIN_SECONDS,
                ready=self._started,
                stopping=daily_jobs().stop,
            )
            server.run()
        if not server.listening:
            raise CommandError(f"Port {settings.BENCH_PORT} is taken. Set BENCH_PORT to another, or stop what listens there.")
        daily_jobs().close()
        settle()
        send_what_is_left()
        self._say("Stopped.")
        # Not sys.exit: Python would wait for every seat's thread, and one that hangs holds on until its time-out.
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)

    def _started(self) -> None:
        self._announce()
        if settings.BENCH_DAILY_JOBS:
            daily_jobs().start()

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
