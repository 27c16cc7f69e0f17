"""What every command of this project has in common: how it is told about, how it fails, how it stops.

    class Command(BenchCommand):
        help = "Do a thing."
        example = "python manage.py thing --json"
        reports = True

Knows no command and no row; each app's commands begin from it.
"""

import io
import json
import os
import sys
from argparse import RawDescriptionHelpFormatter
from errno import EDQUOT, ENOSPC
from textwrap import fill, indent
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.db import OperationalError, ProgrammingError, connection

# Of a shell: what a process ends with whom Ctrl-C has ended.
INTERRUPTED = 130
# Where output goes to a file.
FULL = (ENOSPC, EDQUOT)
# Django's own, which work all the same; -v stays with commands whose help tells of it.
NOISE = {"--version", "--settings", "--pythonpath", "--traceback", "--no-color", "--force-color"}


def write_over(err: OutputWrapper, line: str) -> None:
    """One line on standard error that the next one overwrites, where that is a terminal; empty: none."""
    if err.isatty():
        # Not in the red of errors, which is stderr's own.
        err.write(f"\r\x1b[K{line}", str, ending="")
        err.flush()


def _remedy(error: Exception) -> str:
    """What makes tables that are not there; nothing where a server is away or full, of which nobody can make a new one."""
    is_away = connection.vendor != "sqlite" and isinstance(error, OperationalError)
    return "" if is_away else ". `python manage.py migrate` makes a new one."


class Paragraphs(RawDescriptionHelpFormatter):
    """Each paragraph as wide as the terminal; one with indented lines, such as an example, is left as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            part if "\n " in f"\n{part}" else fill(" ".join(part.split()), width) for part in text.strip().split("\n\n")
        )


class BenchCommand(BaseCommand):
    """`help` and `example` keep their line breaks. `reports`: there is something to tell, with --json as JSON.

    Exit status: 0 done, 1 refused or failed with the reason on standard error, 2 for arguments that make no sense, 130
    interrupted. A reader who has had enough, as head has, is no failure. `checks`: the site's settings are checked before.
    """

    example = ""
    reports = False
    # Asked for in execute instead: a command that asks for its checks here gets an option to skip them.
    requires_system_checks = ()
    checks = True
    suppressed_base_arguments = NOISE | {"--verbosity"}

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs.setdefault("formatter_class", Paragraphs)
        kwargs.setdefault("epilog", f"Example:\n{indent(self.example.strip(), '  ')}")
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if self.reports:
            parser.add_argument("--json", action="store_true", help="print what came of it as JSON")
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            if self.checks and not options.get("skip_checks"):
                self.check()
            return super().execute(*args, **options)
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(f"the database does not answer: {error}{_remedy(error)}") from error
        except OSError as error:
            if error.errno in FULL:
                raise CommandError(f"what it tells cannot be written: {error.strerror}.") from error
            if not isinstance(error, BrokenPipeError):
                raise
            # Nor is there anybody to tell when Python flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None

    def run_from_argv(self, argv: list[str]) -> None:
        if sys.stdout is None:
            # Closed before it began (`>&-`): nobody reads, as behind a head that has had enough.
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)
            self.stdout = OutputWrapper(sys.stdout)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # Text from elsewhere may have what a terminal's encoding has not.
                stream.reconfigure(errors="backslashreplace")
        try:
            super().run_from_argv(argv)
        except KeyboardInterrupt:
            self.stderr.write("Interrupted.")
            sys.exit(INTERRUPTED)

    def report(self, fields: Any, text: str, *, as_json: bool) -> None:
        """Tell what came of it: `fields` as JSON, or `text`."""
        self.stdout.write(json.dumps(fields) if as_json else text)
