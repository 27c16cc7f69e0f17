"""The first page: what happened since yesterday, what needs somebody, and the steps to a first verdict until there is one.

Reads counts that are kept, or bounded pieces of the log, so that it costs the same however long the log is. Nothing is cached.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.db.models import Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from benchsite.jobs.daily import JOBS
from benchsite.jobs.running import is_running
from benchsite.models import JobRun
from collections_app.models import Alert, CoolDown, Endpoint, LanguageModel, Membership
from collections_app.services.quotas import Forecast, forecast_accounts, forecasts
from evidence.models import Call, Panel, Tally, Verdict
from evidence.selectors import verdicts_owed
from evidence.selectors.owed import owed_altogether

SHOWN = 5
# Kinds of errors are read from so many of the latest panels.
LATEST_PANELS = 500
# A limit of which less than this is left is told of.
LOW = 0.25


@dataclass(frozen=True, slots=True)
class Day:
    """What was asked on one day, in UTC. Calls that still run are in none of the counts of calls."""

    name: str
    panels: int
    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class Failing:
    """Calls of one endpoint that brought nothing since yesterday, and the kinds of error among the latest."""

    endpoint: str
    failed: int
    empty: int
    asked: int
    kinds: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step to a first verdict. `link` leads to where it is done."""

    title: str
    about: str
    link: str
    done: bool


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the first page shows besides its frame: each part to those who may see its pages."""
    now = timezone.now()
    parts: tuple[tuple[str, str, Callable[[datetime], Any]], ...] = (
        ("evidence.view_panel", "days", days),
        ("evidence.view_panel", "running", lambda now: Call.objects.filter(status=Call.Status.RUNNING).count()),
        ("evidence.view_panel", "failing", failing),
        ("evidence.view_tally", "owed", lambda now: {"calls": owed_altogether(), "latest": list(verdicts_owed()[:SHOWN])}),
        ("collections_app.view_cooldown", "limits", limits),
        ("collections_app.view_alert", "alerts", alerts),
        ("benchsite.view_jobrun", "jobs", jobs),
        ("evidence.view_panel", "steps", steps),
    )
    return (
        context
        | {"title": "Overview"}
        | {name: part(now) for permission, name, part in parts if request.user.has_perm(permission)}
    )


def days(now: datetime) -> list[Day]:
    """Today and yesterday. Three queries of an index."""
    today = now.date()
    since = today - timedelta(days=1)
    rows = Tally.objects.filter(day__gte=since).order_by().values_list("day").annotate(Sum("asked"), Sum("answered"))
    sums = {day: counts for day, *counts in rows}
    begin = _midnight(now)
    ranges = (("Today", today, begin, now + timedelta(days=1)), ("Yesterday", since, begin - timedelta(days=1), begin))
    return [
        Day(name, Panel.objects.filter(asked_at__gte=first, asked_at__lt=last).count(), *sums.get(day, (0, 0)))
        for name, day, first, last in ranges
    ]


def failing(now: datetime) -> list[Failing]:
    """Endpoints with calls that brought nothing since yesterday, the most first. Two queries."""
    since = _midnight(now) - timedelta(days=1)
    sums = Tally.objects.filter(day__gte=since.date()).order_by().values_list("endpoint_name")
    rows = sums.annotate(Sum("failed"), Sum("empty"), Sum("asked"))
    latest = Panel.objects.filter(asked_at__gte=since).order_by("-asked_at").values("pk")[:LATEST_PANELS]
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    failed = Call.objects.filter(panel__in=list(latest.values_list("pk", flat=True)), status=Call.Status.ERROR).order_by()
    for endpoint, kind in failed.values_list("endpoint_name", "error_kind"):
        kinds[endpoint][kind] += 1
    found = [
        Failing(endpoint, failed, empty, asked, tuple(kinds[endpoint].most_common(2)))
        for endpoint, failed, empty, asked in rows
        if failed or empty
    ]
    return sorted(found, key=lambda one: (-one.failed - one.empty, one.endpoint))[:SHOWN]


def limits(now: datetime) -> dict[str, Any]:
    """Who rests, and the limits of accounts and of members that are nearly used up. A fixed number of queries."""
    resting = CoolDown.objects.filter(until__gt=now)
    low = sorted(_low(now), key=lambda pair: pair[1].left / pair[1].limit)
    rests = resting.select_related("endpoint").order_by("until")
    return {"low": low[:SHOWN], "more_low": len(low[SHOWN:]), "resting": resting.count(), "rests": list(rests[:SHOWN])}


def _low(now: datetime) -> Iterator[tuple[str, Forecast]]:
    endpoints = list(Endpoint.objects.all())
    accounts = forecast_accounts(endpoints, now)
    members = list(LanguageModel.objects.filter(memberships__isnull=False).distinct().select_related("endpoint"))
    own = forecasts(members, now)
    shared = ((endpoint.name, one) for endpoint in endpoints for one in accounts[endpoint.pk])
    theirs = ((model.alias, one) for model in members for one in own[model.pk] if one.pattern == model.served_id)
    # A minute's limit is whole again before anybody has read of it.
    yield from ((name, one) for name, one in chain(shared, theirs) if "minute" not in one.field and one.left < LOW * one.limit)


def alerts(now: datetime) -> dict[str, Any]:
    opened = Alert.objects.filter(resolved_at=None)
    return {"open": opened.count(), "latest": list(opened.select_related("endpoint")[:SHOWN])}


def jobs(now: datetime) -> list[dict[str, Any]]:
    """Every daily job of this version and how it last went; before any has run, that it has not."""
    runs = {run.name: run for run in JobRun.objects.filter(name__in=JOBS)}
    return [
        {"name": name, "run": run, "running": bool(run and is_running(run, now))} for name in JOBS for run in [runs.get(name)]
    ]


def steps(now: datetime) -> list[Step]:
    """What is left to do until there is a verdict; nothing from then on. At most five queries, one once it is done."""
    if Verdict.objects.exists() or Tally.objects.filter(in_log=False).exists():
        return []
    panel = Panel.objects.order_by("-asked_at").first()
    where = reverse("admin:evidence_panel_change", args=[panel.pk]) if panel else reverse("playground:page")
    return [
        Step(
            "Add an endpoint and models",
            "From a provider's key, or a server of this machine.",
            reverse("admin:collections_app_onboarding"),
            LanguageModel.objects.exists(),
        ),
        Step(
            "Make a collection",
            "Two to four models for one kind of work.",
            reverse("admin:collections_app_collection_add"),
            Membership.objects.exists(),
        ),
        Step("Ask a first panel", "Every model answers, side by side.", reverse("playground:page"), panel is not None),
        Step("Judge a first answer", "Verdicts decide who sits next.", where, False),
    ]


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
