"""`python manage.py check_tallies`: compare the tallies that pages read with the log that they are made from."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from collections_app.management.base import BenchCommand
from evidence.counting.tallies import differing, make_again, size


class Command(BenchCommand):
    help = (
        "Compare the tallies (how often each model was asked, answered and was judged, by day) with the call log. "
        "They are kept together; a difference means that rows were changed by hand. Exits 1 when there is one."
    )
    example = "python manage.py check_tallies --mend"
    reports = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--mend", action="store_true", help="make the log's tallies anew; those of pruned calls stay")

    def handle(self, *args: Any, mend: bool, **options: Any) -> None:
        if mend:
            make_again()
        tallies, calls = size()
        if wrong := differing():
            alias, shape, day = wrong[0]
            raise CommandError(
                f"{len(wrong)} of {tallies:,} tallies differ from the log: {alias} on {shape}, {day}"
                f"{', and others' if len(wrong) > 1 else ''}. --mend makes them anew."
            )
        told = f"{tallies:,} tallies of {calls:,} calls equal the log."
        self.report({"tallies": tallies, "calls": calls}, told, as_json=options["json"])
