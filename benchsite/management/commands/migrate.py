"""Django's own migrate, by one process at a time: machines that are upgraded together each run it, and one does it.

A database that does not answer is said in a line; of a statement that fails all is said.
"""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections

from benchsite.processes.migrating import alone


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        try:
            connection.ensure_connection()
        except OperationalError as error:
            raise CommandError(f"the database does not answer: {error}") from error
        if options["plan"] or options["check_unapplied"]:
            super().handle(*args, **options)
            return
        with alone(connection, settings.BENCH_DATA_DIR):
            super().handle(*args, **options)
