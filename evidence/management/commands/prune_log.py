"""`python manage.py prune_log`: forget old panels and keep what they come to as evidence."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from collections_app.management.base import BenchCommand
from evidence.pruning import prune_panels

MOST_DAYS = 36_500


class Command(BenchCommand):
    help = (
        "Remove panels asked more than so many days ago, with their answers and verdicts. How often each model was asked, "
        "answered and was judged stays, by shape. Without --days: BENCH_LOG_DAYS, as the daily job does."
    )
    example = "python manage.py prune_log --days 90"
    reports = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=int, default=settings.BENCH_LOG_DAYS, help="how many days of the log to keep")

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        if not 1 <= days <= MOST_DAYS:
            raise CommandError(f"--days {days}: the days to keep, from 1 to {MOST_DAYS:,}. BENCH_LOG_DAYS=0 keeps all of them.")
        gone = prune_panels(timezone.now() - timedelta(days=days))
        told = f"{gone.panels:,} panels and {gone.calls:,} calls removed; their counts are kept."
        self.report({"panels": gone.panels, "calls": gone.calls}, told, as_json=options["json"])
