"""What the pages of evidence share: filters, a table that can be had as CSV, and the way to one another."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.admin import ModelAdmin

from evidence.admin.standing.asked import WantedForm, form_for
from evidence.admin.standing.csv_out import download

ON_A_PAGE = 50
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]


class StandingPage:
    """One page. `filters` are the form's fields; `first` is what they say before anybody has chosen."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    template: ClassVar[str]
    filters: ClassVar[tuple[str, ...]] = ()
    first: ClassVar[Mapping[str, str]] = {}

    def __init__(self, admin: ModelAdmin) -> None:
        self.admin = admin

    def view(self, request: HttpRequest) -> HttpResponseBase:
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        form = form_for(request.GET, self.filters, first=self.first)
        if request.GET.get("format") == "csv":
            return download(self.name, *self.table(form))
        context = {
            **self.admin.admin_site.each_context(request),
            "title": self.title,
            "content_title": self.title,
            "is_fullwidth": "1",
            "page_about": self.about,
            "tabs": tabs(self.name),
            "form": form,
            "wanted": form.wanted,
            "csv": with_query(request, format="csv", page=None),
            **self.shown(request, form),
        }
        return TemplateResponse(request, self.template, context)

    def shown(self, request: HttpRequest, form: WantedForm) -> dict[str, Any]:
        """What the template is given."""
        raise NotImplementedError

    def table(self, form: WantedForm) -> Table:
        """The header and the rows of the whole table, whatever page of it is shown."""
        raise NotImplementedError


TABS = (
    ("leaderboard", "Leaderboard", "evidence_tally_changelist"),
    ("trends", "Trends", "evidence_trends"),
    ("owed", "Verdicts owed", "evidence_owed"),
    ("wrong", "Confidently wrong", "evidence_wrong"),
    ("finds", "Unique finds", "evidence_finds"),
    ("promotions", "Explorers to promote", "evidence_promotions"),
)


def tabs(current: str) -> list[dict[str, Any]]:
    return [{"title": title, "link": reverse(f"admin:{url}"), "current": name == current} for name, title, url in TABS]


def with_query(request: HttpRequest, **changed: str | None) -> str:
    """The query of this page with other values; without those that are None."""
    query = request.GET.copy()
    for name, value in changed.items():
        query.pop(name, None)
        if value is not None:
            query[name] = value
    return query.urlencode()


def paged(request: HttpRequest, rows: Sequence[Any]) -> dict[str, Any]:
    """The page of rows that is asked for, its first row's number, and links to the pages around it."""
    page = Paginator(rows, ON_A_PAGE).get_page(request.GET.get("page", "1")[:9])
    numbers = page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1)
    links = [
        (str(number), with_query(request, page=str(number)) if isinstance(number, int) and number != page.number else "")
        for number in numbers
    ]
    return {"page": page, "pages": links if page.paginator.num_pages > 1 else [], "before": page.start_index() - 1}
