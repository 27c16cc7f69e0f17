"""What the pages of all rows of the roster share: their history is the change log, and how values look on them."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib.contenttypes.models import ContentType
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin

STATUS_COLOURS = {"active": "good", "ad_hoc": "note", "retiring": "warn", "retired": "bad"}


# In the query of a form: choices as plain lists, for where no script runs that would look them up.
PLAIN = "plain"


class ReadOnlyAdmin(ModelAdmin):
    """Rows that the bench itself writes, for people to look at."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class RowAdmin(ModelAdmin):
    """`about` says above a list what its rows are; `nothing_yet`, where there is none, what to do."""

    about = ""
    nothing_yet = ""
    list_before_template = "collections_app/about.html"  # type: ignore[assignment]  # unfold says None
    list_fullwidth = True
    list_filter_sheet = False
    warn_unsaved_form = True

    def get_autocomplete_fields(self, request: HttpRequest) -> Any:
        return () if PLAIN in request.GET else super().get_autocomplete_fields(request)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The row's changes, by whomever: Django's own history knows only those made on these pages."""
        kind = ContentType.objects.get_for_model(self.model)
        query = urlencode({"content_type__id__exact": kind.pk, "object_pk__exact": object_id})
        return redirect(f"{reverse('admin:collections_app_change_changelist')}?{query}")


def code(text: str) -> SafeString:
    """Text as it is typed and sent, told apart from prose."""
    return format_html('<code class="bench-code">{}</code>', text)


def chip(text: str, colour: str = "plain") -> SafeString:
    """A word in a box: plain, good, note, warn or bad. The admin theme's own are in capitals, and an alias is not."""
    return format_html('<span class="bench-chip bench-{}">{}</span>', colour, text)


def chips(texts: Iterable[str]) -> SafeString:
    """Several words, each in a box; they wrap."""
    return format_html('<span class="bench-chips">{}</span>', format_html_join("", "{}", ((chip(text),) for text in texts)))


def status_chip(status: str) -> SafeString:
    return chip(status.replace("_", " "), STATUS_COLOURS.get(status, "plain"))
