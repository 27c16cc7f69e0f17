"""What stands out, a page each: models wrong more than right, claims of one seat alone, explorers better than members."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from evidence.admin.standing.asked import EVERY, WantedForm
from evidence.admin.standing.page import StandingPage, Table, paged
from evidence.selectors.findings import (
    FEWEST_VERDICTS,
    Promotion,
    finders,
    latest_finds,
    latest_wrong,
    promotions,
    wrong,
)
from evidence.tables import RECORD_HEADER, record_row


class WrongPage(StandingPage):
    name = "wrong"
    title = "Confidently wrong"
    about = (
        "Models whose verdicts were not useful, or whose claims were false, more often than not; those first of which that is "
        "surest, by the lower end of the 95 % interval."
    )
    template = "evidence/standing/wrong.html"
    filters = ("shape", "collection", "days", "role", "seat")
    first = {"shape": EVERY}

    def shown(self, request: HttpRequest, form: WantedForm) -> dict[str, Any]:
        return {**paged(request, wrong(form.wanted)), "latest": latest_wrong()}

    def table(self, form: WantedForm) -> Table:
        shape = form.wanted.shape
        return RECORD_HEADER, (record_row(one.record, shape) for one in wrong(form.wanted))


class FindsPage(StandingPage):
    name = "finds"
    title = "Unique finds"
    about = (
        "Claims that held, on one seat of a panel alone, where another seat was judged too. Two claims are one when their "
        "words are. A merger finds nothing: it repeats."
    )
    template = "evidence/standing/finds.html"
    filters = ("shape", "collection", "days", "role", "seat")
    first = {"shape": EVERY}

    def shown(self, request: HttpRequest, form: WantedForm) -> dict[str, Any]:
        return {**paged(request, finders(form.wanted)), "latest": latest_finds()}

    def table(self, form: WantedForm) -> Table:
        shape = form.wanted.shape
        return RECORD_HEADER, (record_row(one, shape) for one in finders(form.wanted))


class PromotionsPage(StandingPage):
    name = "promotions"
    title = "Explorers to promote"
    about = (
        "Explorers whose lower bound is above that of the collection's weakest member, each by its own calls in that "
        f"collection, on the same shape, with {FEWEST_VERDICTS} verdicts or more. Sure: the two intervals do not touch."
    )
    template = "evidence/standing/promotions.html"
    filters = ("collection",)
    first = {"shape": EVERY}

    def shown(self, request: HttpRequest, form: WantedForm) -> dict[str, Any]:
        return paged(request, promotions(form.wanted.collection))

    def table(self, form: WantedForm) -> Table:
        header = (
            "collection",
            "shape",
            "explorer",
            "judged",
            "useful",
            "low",
            "high",
            "member",
            "judged",
            "useful",
            "low",
            "high",
            "sure",
        )
        return header, (_row(one) for one in promotions(form.wanted.collection))


def _row(one: Promotion) -> Sequence[Any]:
    both = [(who.alias, who.share.of, who.share.hits, who.share.low, who.share.high) for who in (one.explorer, one.member)]
    return (one.collection.asked_as, one.shape, *both[0], *both[1], one.sure)
