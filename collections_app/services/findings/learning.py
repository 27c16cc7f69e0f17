"""Facts that calls teach: windows and output limits, which only ever go down, and rates, which are as they were last told."""

from collections.abc import Iterable
from datetime import datetime

from collections_app.models import Fact, LanguageModel
from collections_app.models.catalog import LEARNED
from collections_app.models.health.quota import LIMITS
from collections_app.plain_text import tidy
from collections_app.selectors import know
from collections_app.services.cooling import end_counted_rest
from collections_app.services.findings.finding import Finding
from collections_app.services.quotas import LimitTold

# Tokens; outside of these a number is something else, such as an error's code.
SMALLEST_WINDOW, LARGEST_WINDOW = 256, 20_000_000
LARGEST = 2**53
LONGEST_NOTE = 200


def learn_lower(finding: Finding, field: str, told: int | None) -> bool:
    """Learn that a window or an output limit is lower than was known; returns whether it was learned.

    Believed only where the request was larger: otherwise the error was about something else. An error tells of what one
    endpoint serves under one id, and of nothing else of the same family.
    """
    if told is None or not _could_be(field, told, finding.tokens):
        return False
    models = list(LanguageModel.objects.filter(endpoint_id=finding.endpoint_id, served_id=finding.served_id))
    know(models)
    if not any(model.known.get(field) is None or told < model.known.get(field) for model in models):
        return False
    fact, made = Fact.objects.select_for_update().get_or_create(
        endpoint_id=finding.endpoint_id,
        served_id=finding.served_id,
        field=field,
        source=LEARNED,
        defaults={"value": told, "known_since": finding.at, "note": tidy(finding.said, LONGEST_NOTE)},
    )
    if made or told >= fact.value:
        return made
    fact.value, fact.known_since, fact.note = told, finding.at, tidy(finding.said, LONGEST_NOTE)
    fact.save()
    return True


def learn_limits(endpoint_id: int, told: Iterable[tuple[str, LimitTold]], at: datetime) -> None:
    """Learn rates that a reply told in numbers, by pattern: one query where nothing is new."""
    rates = {
        (pattern, limit.field): limit.limit
        for pattern, limit in told
        if limit.field in LIMITS and limit.limit and 0 < limit.limit <= LARGEST
    }
    if not rates:
        return
    rows = Fact.objects.filter(endpoint_id=endpoint_id, source=LEARNED, served_id__in={pattern for pattern, _ in rates})
    known = {(fact.served_id, fact.field): fact for fact in rows}
    for (pattern, field), limit in rates.items():
        fact = known.get((pattern, field))
        if fact is None:
            fact = Fact(endpoint_id=endpoint_id, served_id=pattern, field=field, source=LEARNED)
        elif fact.value == limit:
            continue
        elif fact.value < limit:
            # What was used up may not be any more.
            end_counted_rest(endpoint_id, pattern)
        fact.value, fact.known_since = limit, at
        fact.save()


def _could_be(field: str, told: int, asked: int) -> bool:
    if field == "context_window":
        return SMALLEST_WINDOW <= told <= LARGEST_WINDOW and told < asked
    return 0 < told <= LARGEST
