"""What the list of panels can be narrowed to. No filter reads the whole log to learn its choices."""

from collections.abc import Iterable

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from collections_app.models import Shape
from evidence.models import Call, Panel

# Formats are the gateway's to know; here they are those that the latest panels came in.
LATEST = 1000


class ShapeFilter(admin.SimpleListFilter):
    title = "shape"
    parameter_name = "shape"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        return [(name, name) for name in Shape.objects.values_list("name", flat=True)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Panel]) -> QuerySet[Panel]:
        return queryset.filter(shape=self.value()) if self.value() else queryset


class FormatFilter(admin.SimpleListFilter):
    title = "format"
    parameter_name = "format"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        latest = Panel.objects.order_by("-asked_at").values_list("format", flat=True)[:LATEST]
        return [(name, name) for name in sorted(set(latest))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Panel]) -> QuerySet[Panel]:
        return queryset.filter(format=self.value()) if self.value() else queryset


class StatusFilter(admin.SimpleListFilter):
    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        return [
            ("running", "still running"),
            ("all", "every seat answered"),
            ("some", "some seats did not answer"),
            ("none", "no seat answered"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Panel]) -> QuerySet[Panel]:
        running, answered = _a_call(Call.Status.RUNNING), _a_call(Call.Status.OK)
        failed = _a_call(Call.Status.EMPTY, Call.Status.ERROR)
        match self.value():
            case "running":
                # Few run at any time, and they have an index of their own: no look into every panel.
                return queryset.filter(pk__in=Call.objects.filter(status=Call.Status.RUNNING).values("panel_id"))
            case "all":
                return queryset.filter(~running, ~failed, answered)
            case "some":
                return queryset.filter(~running, failed, answered)
            case "none":
                return queryset.filter(~running, ~answered)
        return queryset


def _a_call(*statuses: str) -> Exists:
    return Exists(Call.objects.filter(panel=OuterRef("pk"), status__in=statuses))
