"""Trends: use, speed, failures and usefulness over time, of the bench, of one collection or of one model."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from collections_app.selectors import nearest_aliases
from evidence.admin.standing.asked import EVERY, WantedForm
from evidence.admin.standing.page import StandingPage, Table
from evidence.counting.statistics import Share
from evidence.selectors.trends import DAY, WEEK, Point, trend


class TrendsPage(StandingPage):
    name = "trends"
    title = "Trends"
    about = "By the day on which a call was asked, in UTC. A verdict counts for the day of its call, whenever it was given."
    template = "evidence/standing/trends.html"
    filters = ("model", "shape", "collection", "days", "seat", "step")
    first = {"shape": EVERY, "days": "90"}

    def shown(self, request: HttpRequest, form: WantedForm) -> dict[str, Any]:
        points = _points(form)
        alias = form.value("model")
        return {
            "points": points[::-1],
            "chart": _chart(points),
            "step": form.value("step", "day"),
            "alias": alias,
            "nearest": nearest_aliases(alias) if alias and not points else [],
        }

    def table(self, form: WantedForm) -> Table:
        header = (
            "start",
            "asked",
            "answered",
            "empty",
            "failed",
            "mean_seconds",
            "judged",
            "useful",
            "share_low_95",
            "share_high_95",
        )
        return header, (_row(point) for point in _points(form))


def _points(form: WantedForm) -> list[Point]:
    return trend(form.wanted, form.value("model"), WEEK if form.value("step") == "week" else DAY)


def _row(point: Point) -> Sequence[Any]:
    useful = point.useful
    bounds = (useful.low, useful.high) if useful.of else (None, None)
    counts = (point.asked, point.answered, point.empty, point.failed, point.mean_seconds)
    return (point.start, *counts, useful.of, useful.hits, *bounds)


def _chart(points: Sequence[Point]) -> dict[str, Any]:
    """The same numbers for the charts, in percent where they are shares; nothing where nothing is known."""
    return {
        "labels": [f"{point.start:%Y-%m-%d}" for point in points],
        "answered": [point.answered for point in points],
        "empty": [point.empty for point in points],
        "failed": [point.failed for point in points],
        "seconds": [point.mean_seconds for point in points],
        **_band("useful", [point.useful for point in points]),
        **_band("failures", [point.failures for point in points]),
    }


def _band(name: str, shares: Sequence[Share]) -> dict[str, Any]:
    known = [share if share.of else None for share in shares]
    return {
        name: [share and round(100 * share.hits / share.of, 1) for share in known],
        f"{name}_low": [share and round(100 * share.low, 1) for share in known],
        f"{name}_high": [share and round(100 * share.high, 1) for share in known],
        f"{name}_of": [share.of if share else 0 for share in known],
    }
