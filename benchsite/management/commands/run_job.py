"""`python manage.py run_job`: one daily job, now or if it is due; for a shell, cron or any other scheduler."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from benchsite.jobs.daily import JOBS
from benchsite.jobs.running import run_job
from benchsite.models import JobRun
from collections_app.management.base import BenchCommand

EXAMPLE = """
python manage.py run_job refresh_catalog
17 * * * * python manage.py run_job prune_log --if-due      (cron; it runs once a day all the same)
"""
ABOUT = "\n".join(f"  {job.name:16} {job.about}" for job in JOBS.values())


class Command(BenchCommand):
    help = (
        "Run one daily job, unless another process is running it. What comes of it is in the dashboard, under Jobs.\n\n"
        f"Jobs:\n{ABOUT}"
    )
    example = EXAMPLE
    reports = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", choices=list(JOBS), metavar="NAME", help="the job")
        parser.add_argument("--if-due", action="store_true", help="only if it is due: once a day, and again after a failure")

    def handle(self, *args: Any, name: str, if_due: bool, **options: Any) -> None:
        run = run_job(name, if_due=if_due)
        if run is None and not if_due:
            raise CommandError(f"{name}: another process is running it.")
        if run is not None and run.outcome != JobRun.Outcome.DONE:
            raise CommandError(f"{name}: {run.get_outcome_display()}: {run.said}")
        said = run.said if run else "not due, or running elsewhere"
        self.report({"job": name, "ran": run is not None, "said": said}, f"{name}: {said}.", as_json=options["json"])
