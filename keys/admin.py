"""Keys in the dashboard: who may ask what, how often and until when; a new key is shown once, in the reply to its form.

Nothing here reads a key back: its text is in that one reply, and in no message, session, cookie or log.
"""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from collections_app.admin.rows import RowAdmin, chip, chips, code
from collections_app.models import Collection
from keys.models import GatewayKey
from keys.services import give_text, keys_are_required, restore, revoke, set_collections

COLOURS = {GatewayKey.Status.ACTIVE: "good", GatewayKey.Status.EXPIRED: "warn", GatewayKey.Status.REVOKED: "bad"}


class StatusFilter(admin.SimpleListFilter):
    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        return GatewayKey.Status.choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[GatewayKey]) -> QuerySet[GatewayKey]:
        expired = Q(expires_at__isnull=False, expires_at__lte=timezone.now())
        match self.value():
            case GatewayKey.Status.REVOKED:
                return queryset.filter(revoked_at__isnull=False)
            case GatewayKey.Status.EXPIRED:
                return queryset.filter(expired, revoked_at=None)
            case GatewayKey.Status.ACTIVE:
                return queryset.filter(~expired, revoked_at=None)
        return queryset


class KeyForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    collections = forms.ModelMultipleChoiceField(
        Collection.objects.all(),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What it may ask, and learn of. None ticked: every collection, and those still to come.",
    )

    class Meta:
        model = GatewayKey
        fields = ("name", "collections", "rpm", "bench_field", "expires_at")


@admin.register(GatewayKey)
class GatewayKeyAdmin(RowAdmin):
    about = (
        "A key says who asks: each app has its own, so that the log can tell them apart and one can be revoked without the "
        "others. Its text is shown once, when it is made."
    )
    form = KeyForm
    list_display = ("name", "ends_in", "asks", "a_minute", "created", "last_used", "stands")
    list_filter = (StatusFilter, ("collections", admin.RelatedOnlyFieldListFilter))
    search_fields = ("name", "last_four")
    search_help_text = "A name, or the last four characters of a key."
    actions = ("revoke", "restore")
    fieldsets = ((None, {"fields": ("name", "collections", "rpm", "expires_at", "bench_field")}),)
    shown = ("name", "ends_in", "stands", "created", "last_used")

    class Media:
        css = {"all": ["keys/keys.css"]}

    @property
    def nothing_yet(self) -> str:  # type: ignore[override]
        """Whether one is needed."""
        if keys_are_required():
            return "The gateway refuses everybody until there is one."
        return "The gateway asks for none: every caller is local. With BENCHWARMERS_REQUIRE_KEYS=1 or an admin token it does."

    # A key that is deleted leaves its name to the next, who could then read the panels that were asked under it.
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        # Or a list could be narrowed to hashes that begin with this or that.
        return "digest" not in lookup and bool(super().lookup_allowed(lookup, value, request))

    def get_queryset(self, request: HttpRequest) -> QuerySet[GatewayKey]:
        rows: QuerySet[GatewayKey] = super().get_queryset(request)
        return rows.prefetch_related("collections")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.shown if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        return (*fieldsets, ("The key", {"fields": self.shown[1:]})) if obj else fieldsets

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        # What answers a new key's form is the key: no next form may come instead.
        context |= {"show_save_and_add_another": False, "show_save_and_continue": bool(context.get("change"))}
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        if not change:
            request.new_key = give_text(obj)
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        # Untouched, they stay: a key whose collections are all gone must not become one for every collection.
        if "collections" in form.changed_data:
            set_collections(form.instance, form.cleaned_data["collections"])

    def response_add(self, request: Any, obj: GatewayKey, post_url_continue: str | None = None) -> HttpResponse:
        """Show the new key. The reply to the form itself: nothing keeps the text for a page that comes after."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"The key of {obj.name}",
            "opts": self.opts,
            "media": self.media,
            "row": obj,
            "text": request.new_key,
            "status": obj.status(timezone.now()),
            "required": keys_are_required(),
        }
        # No browser keeps it either: the admin sends no-store with every page.
        return TemplateResponse(request, "keys/new_key.html", context)

    @admin.display(description="key", ordering="last_four")
    def ends_in(self, key: GatewayKey) -> SafeString:
        return code(f"••••{key.last_four}")

    @admin.display(description="may ask")
    def asks(self, key: GatewayKey) -> SafeString:
        names = [collection.asked_as for collection in key.collections.all()]
        if names:
            return chips(names)
        return chip("nothing: its collections are gone", "bad") if key.limited else chip("every collection")

    @admin.display(description="a minute", ordering="rpm")
    def a_minute(self, key: GatewayKey) -> str:
        return "no limit" if key.rpm is None else f"{key.rpm:,}"

    @admin.display(description="created (UTC)", ordering="created_at")
    def created(self, key: GatewayKey) -> str:
        return f"{key.created_at:%Y-%m-%d %H:%M}"

    @admin.display(description="last used (UTC)", ordering="last_used_at")
    def last_used(self, key: GatewayKey) -> str:
        return f"{key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never"

    @admin.display(description="status")
    def stands(self, key: GatewayKey) -> SafeString:
        status = key.status(timezone.now())
        since = {"revoked": key.revoked_at, "expired": key.expires_at}.get(status)
        until = f" until {key.expires_at:%Y-%m-%d}" if status == "active" and key.expires_at else ""
        return chip(f"{status} {since:%Y-%m-%d}" if since else f"{status}{until}", COLOURS[GatewayKey.Status(status)])

    @admin.action(description="Revoke: refuse them from now on", permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[GatewayKey]) -> None:
        messages.success(request, f"{revoke(keys)} of {len(keys)} revoked.")

    @admin.action(description="Restore: take them again", permissions=["change"])
    def restore(self, request: HttpRequest, keys: QuerySet[GatewayKey]) -> None:
        messages.success(request, f"{restore(keys)} of {len(keys)} restored.")
