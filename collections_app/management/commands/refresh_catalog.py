"""python manage.py refresh_catalog [SOURCE ...]: read what others know about models again."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collections_app.catalog.merge import FactChange
from collections_app.catalog.refresh import Outcome, Summary, UnknownSourceError, refresh
from collections_app.management.base import NOISE, BenchCommand, write_over
from collections_app.models import Fact

MOST_SHOWN = 50
HELP = """\
Read the catalogs of models again: models.dev, OpenRouter, FreeLLMAPI, and what each endpoint itself lists.

Prints what is new, changed and gone in each, what that changes for models of this bench, and new alerts. A source that
cannot be read, or that lists less than half of what it did, changes nothing: what it said before is kept, and why is
told. Exit status 1 when no source at all could be read. With -v 2 every item that was left out is told.

Sources: models_dev, openrouter, freellmapi, or an endpoint's name for its own listing; all of them when none is named.
"""
EXAMPLE = """
python manage.py refresh_catalog
python manage.py refresh_catalog models_dev groq --json
"""


class Command(BenchCommand):
    help = HELP
    example = EXAMPLE
    reports = True
    suppressed_base_arguments = NOISE  # -v stays: help tells of it

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", nargs="*", help="read these alone")
        parser.add_argument(
            "--accept-shrunken", action="store_true", help="take a listing that has less than half of the models it had"
        )

    def handle(self, *args: Any, source: list[str], accept_shrunken: bool, verbosity: int, **options: Any) -> None:
        progress = self._progress if self.stderr.isatty() else None
        try:
            summary = refresh(source, progress=progress, accept_shrunken=accept_shrunken)
        except UnknownSourceError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(as_json(summary), indent=2))
        else:
            for line in as_text(summary, left_out=verbosity > 1):
                self.stdout.write(line)
        if summary.failed:
            raise CommandError("no source could be read")

    def _progress(self, source: str, done: int, total: int) -> None:
        """One line that is written over: which source is being read."""
        write_over(self.stderr, f"{done + 1}/{total} {source} ..." if source else "")


def as_json(summary: Summary) -> dict[str, Any]:
    return {
        "sources": [asdict(outcome) for outcome in summary.outcomes],
        "changes": [asdict(change) for change in summary.changes],
        "alerts": [
            {
                "kind": alert.kind,
                "endpoint": alert.endpoint and alert.endpoint.name,
                "about": alert.about,
                "message": alert.message,
            }
            for alert in summary.alerts
        ],
    }


def as_text(summary: Summary, *, left_out: bool) -> Iterator[str]:
    width = max((len(outcome.source) for outcome in summary.outcomes), default=0)
    for outcome in summary.outcomes:
        yield f"{outcome.source:{width}}  {how_it_went(outcome)}"
        if left_out:
            yield from (f"{'':{width}}    left out: {line}" for line in outcome.left_out)
    # What was known otherwise comes before what was not known, of which a first refresh has a thousand.
    changes = sorted(summary.changes, key=lambda change: change.before is None)
    yield from section("On this bench", [in_words(change) for change in changes])
    yield from section("New alerts", [f"{alert.get_kind_display()}: {alert.message}" for alert in summary.alerts])


def section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"\n{title}:"
        yield from (f"  {line}" for line in lines[:MOST_SHOWN])
        if len(lines) > MOST_SHOWN:
            yield f"  and {len(lines) - MOST_SHOWN:,} more (--json has all of them)"


def how_it_went(outcome: Outcome) -> str:
    if outcome.error:
        return f"{'not asked' if outcome.skipped else 'not taken'}: {outcome.error}"
    counts = {"new": outcome.new, "changed": outcome.changed, "gone": outcome.gone, "left out": len(outcome.left_out)}
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "unchanged"
    return f"{outcome.entries:,} model{'' if outcome.entries == 1 else 's'}: {told} ({outcome.seconds:.1f} s)"


def in_words(change: FactChange) -> str:
    said = f", says {Fact.SOURCE_NAMES[change.source]}"
    return f"{change.names} ({change.endpoint}): {change.field} {shown(change.before)} -> {shown(change.after)}{said}"


def shown(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
