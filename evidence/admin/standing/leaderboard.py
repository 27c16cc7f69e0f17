"""The leaderboard: every model's record on one shape of work, by the lower bound of how often it was useful."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import URLPattern, path

from collections_app.admin.rows import ReadOnlyAdmin
from evidence.admin.model_record import model_record
from evidence.admin.standing.asked import WantedForm
from evidence.admin.standing.findings import FindsPage, PromotionsPage, WrongPage
from evidence.admin.standing.owed import OwedPage
from evidence.admin.standing.page import ON_A_PAGE, StandingPage, Table, paged
from evidence.admin.standing.trends import TrendsPage
from evidence.models import Tally
from evidence.selectors.standing import Wanted, records, timed
from evidence.tables import RECORD_HEADER, record_row


class LeaderboardPage(StandingPage):
    name = "leaderboard"
    title = "Leaderboard"
    about = (
        "By the lower end of the 95 % interval of how often a model's judged answers were useful: few verdicts count for "
        "little, however good. Calls that the log has forgotten count too."
    )
    template = "evidence/standing/leaderboard.html"
    filters = ("shape", "collection", "days", "role", "seat")

    def shown(self, request: HttpRequest, form: WantedForm) -> dict[str, Any]:
        wanted = form.wanted
        found = paged(request, records(wanted))
        return {**found, "records": timed(list(found["page"].object_list), wanted)}

    def table(self, form: WantedForm) -> Table:
        return RECORD_HEADER, _rows(form.wanted)


def _rows(wanted: Wanted) -> Iterator[Sequence[Any]]:
    found = records(wanted)
    for start in range(0, len(found), ON_A_PAGE):
        for record in timed(found[start : start + ON_A_PAGE], wanted):
            yield record_row(record, wanted.shape)


@admin.register(Tally)
class TallyAdmin(ReadOnlyAdmin):
    """The pages of evidence, under one address; the tallies themselves are shown nowhere."""

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        pages = (TrendsPage, OwedPage, WrongPage, FindsPage, PromotionsPage)
        return [
            path("", guarded(self.changelist_view), name="evidence_tally_changelist"),
            *(path(f"{page.name}/", guarded(page(self).view), name=f"evidence_{page.name}") for page in pages),
            path("model/<int:pk>/", guarded(model_record), name="evidence_model_record"),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return LeaderboardPage(self).view(request)
