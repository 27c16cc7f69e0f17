"""`python manage.py run_job`: one daily job, now or if it is due; for a shell, cron or any other scheduler."""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchsite.jobs.daily import JOBS
from benchsite.jobs.running import run_job
from benchsite.models import JobRun

EXAMPLE = """example:
  python manage.py run_job refresh_catalog
  17 * * * * python manage.py run_job prune_log --if-due      (cron; it runs once a day all the same)
"""


class Command(BaseCommand):
    help = "Run one daily job, unless another process is running it. What comes of it is in the dashboard, under Jobs."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        jobs = "\n".join(f"  {job.name:16} {job.about}" for job in JOBS.values())
        parser = super().create_parser(prog_name, subcommand, epilog=f"jobs:\n{jobs}\n\n{EXAMPLE}", **kwargs)
        parser.formatter_class = RawDescriptionHelpFormatter
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", choices=list(JOBS), metavar="NAME", help="the job")
        parser.add_argument("--if-due", action="store_true", help="only if it is due: once a day, and again after a failure")

    def handle(self, *args: Any, name: str, if_due: bool, **options: Any) -> None:
        run = run_job(name, if_due=if_due)
        if run is None and if_due:
            self.stdout.write(f"{name}: not due, or running elsewhere.")
        elif run is None:
            raise CommandError(f"{name}: another process is running it.")
        elif run.outcome != JobRun.Outcome.DONE:
            raise CommandError(f"{name}: {run.get_outcome_display()}: {run.said}")
        else:
            self.stdout.write(f"{name}: {run.said}.")
