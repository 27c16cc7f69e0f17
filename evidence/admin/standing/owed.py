"""Verdicts owed: the answers whose judgement would say the most, each a click away."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.http import HttpRequest

from collections_app.models import LanguageModel
from evidence.admin.standing.asked import EVERY, WantedForm
from evidence.admin.standing.page import StandingPage, Table, paged
from evidence.selectors.owed import RULE, Owed, owed, waiting


class OwedPage(StandingPage):
    name = "owed"
    title = "Verdicts owed"
    about = RULE
    template = "evidence/standing/owed.html"
    filters = ("shape",)
    first = {"shape": EVERY}

    def shown(self, request: HttpRequest, form: WantedForm) -> dict[str, Any]:
        found = owed(form.wanted.shape)
        page = paged(request, found)
        rows = list(page["page"].object_list)
        return {**page, "rows": _with_calls(rows), "calls": sum(one.calls for one in found)}

    def table(self, form: WantedForm) -> Table:
        header = (
            "alias",
            "shape",
            "merging",
            "verdicts_owed",
            "judged",
            "useful",
            "share_low_95",
            "low_if_useful",
            "low_if_not",
            "places",
        )
        return header, _rows(owed(form.wanted.shape))


def _with_calls(rows: Sequence[Owed]) -> list[dict[str, Any]]:
    calls = waiting(rows)
    return [{"owed": one, "call": calls[one.tally]} for one in rows if one.tally in calls]


def _rows(found: Sequence[Owed]) -> Iterator[Sequence[Any]]:
    aliases = dict(LanguageModel.objects.order_by().values_list("pk", "alias"))
    for one in found:
        bounds = (one.share.low, one.if_useful.low, one.if_not.low)
        yield (aliases.get(one.model, ""), one.shape, one.merging, one.calls, one.share.of, one.share.hits, *bounds, one.places)
