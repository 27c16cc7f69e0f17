"""Collections: who sits for which work, in which order, and what that makes in seats."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import F, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.forms import PaginationInlineFormSet
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget

from collections_app.admin.fields import WordsField
from collections_app.admin.rows import PLAIN, RowAdmin, chip, chips, status_chip
from collections_app.admin.seats import seats_in_form, seats_in_list
from collections_app.models import Collection, LanguageModel, Limits, Membership
from collections_app.selectors import current_limits, know, members_of, membership_advice
from collections_app.services.members import set_members

MORE_PLAIN_ROWS = 3


class MembershipForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    position = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=999,
        label="place",
        widget=UnfoldAdminIntegerFieldWidget(attrs={"class": "bench-place", "inputmode": "numeric", "aria-label": "Place"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:
            self.initial.pop("position", None)
        # A row of a table has no label of its own.
        self.fields["language_model"].widget.attrs["aria-label"] = "Model"


class MembershipFormSet(PaginationInlineFormSet):
    def members_in_order(self) -> list[LanguageModel]:
        """The members as the form leaves them, dragged or numbered; those without a place after all others, as they come."""
        kept = [form for form in self.forms if form not in self.deleted_forms and form.cleaned_data.get("language_model")]
        places = [form.cleaned_data.get("position") for form in kept]
        order = sorted(range(len(kept)), key=lambda one: (places[one] is None, places[one] or 0))
        return [kept[one].cleaned_data["language_model"] for one in order]


class MembershipInline(TabularInline):
    model = Membership
    form = MembershipForm
    formset = MembershipFormSet
    fields = ("language_model", "about", "position")
    readonly_fields = ("about",)
    autocomplete_fields = ("language_model",)
    ordering_field = "position"  # type: ignore[assignment]  # unfold types it as nothing
    hide_title = True
    verbose_name_plural = "members, in order"
    min_num = 1
    validate_min = True

    def get_autocomplete_fields(self, request: HttpRequest) -> Any:
        return () if PLAIN in request.GET else super().get_autocomplete_fields(request)

    def get_extra(self, request: HttpRequest, obj: Any = None, **options: Any) -> int:
        return MORE_PLAIN_ROWS if PLAIN in request.GET else 0

    def get_formset(self, request: HttpRequest, obj: Any = None, **options: Any) -> Any:
        return super().get_formset(request, obj, validate_min=True, **options)

    @admin.display(description="role, family lines, status")
    def about(self, membership: Membership) -> SafeString | str:
        if membership._state.adding:
            return ""
        model = membership.language_model
        lines = ", ".join(sorted(model.families)) or "router"
        return format_html(
            '<span class="bench-chips">{} {} {}</span>', chip(model.role), chip(lines), status_chip(model.status)
        )


class CollectionForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    tags = WordsField(required=False, help_text="Up to eight lower-case words with commas between, such as review, german.")

    class Meta:
        model = Collection
        fields = ("name", "description", "tags", "shape", "reply", "merger", "verdict_links")
        help_texts = {"name": "Says what it is for, in lower-case letters, digits and dashes, such as code-review."}
        widgets = {"description": UnfoldAdminTextareaWidget(attrs={"rows": 3})}


@admin.register(Collection)
class CollectionAdmin(RowAdmin):
    nothing_yet = (
        "A collection is a group of models that answer together, asked for as bench/<name>. Two to four make a good one."
    )
    form = CollectionForm
    inlines = (MembershipInline,)
    list_display = ("asked_for", "seated", "sum_of_seats", "shaped", "reply", "tagged")
    list_filter = ("shape", "reply", ("members", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("shape",)
    search_fields = ("name", "description", "tags", "members__alias")
    autocomplete_fields = ("merger",)
    readonly_fields = ("seats",)
    change_form_outer_before_template = "collections_app/collection_links.html"  # type: ignore[assignment]  # unfold says None
    fieldsets = (
        (None, {"fields": ("name", "description", "tags")}),
        ("Asking", {"fields": (("shape", "reply"), "merger", "verdict_links", "seats")}),
    )

    class Media:
        js = ("collections_app/seats.js",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        limits = Limits.objects.filter(pk=1)
        rows: QuerySet[Collection] = super().get_queryset(request)
        # Beside each row, so that neither a list nor a form asks for them again.
        return rows.prefetch_related("memberships").annotate(
            max_calls=Subquery(limits.values("max_calls")), max_explorers=Subquery(limits.values("max_explorers"))
        )

    @admin.display(description="asked for as", ordering="name")
    def asked_for(self, collection: Collection) -> str:
        return collection.asked_as

    @admin.display(description="members, in order")
    def seated(self, collection: Collection) -> SafeString:
        return chips(model.alias for model in members_of(collection))

    @admin.display(description="seats")
    def sum_of_seats(self, collection: Any) -> SafeString:
        return seats_in_list(members_of(collection), _limits_beside(collection))

    @admin.display(description="seats")
    def seats(self, collection: Any) -> SafeString:
        if collection.pk is None:
            return seats_in_form([], current_limits(), None)
        members = members_of(collection)
        know(members)
        return seats_in_form(members, _limits_beside(collection), collection.shape)

    @admin.display(description="shape", ordering=F("shape__name"))
    def shaped(self, collection: Collection) -> str:
        return str(collection.shape) if collection.shape else "automatic"

    @admin.display(description="tags")
    def tagged(self, collection: Collection) -> SafeString:
        return chips(map(str, collection.tags))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **options)
        if field is not None and db_field.name == "shape":
            field.empty_label = "automatic"
        return field

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Set the members as a whole: one change in the log, whatever was added, removed and dragged."""
        formset.new_objects, formset.changed_objects, formset.deleted_objects = [], [], []
        members = formset.members_in_order()
        set_members(form.instance, members)
        for advice in membership_advice(members):
            messages.warning(request, advice.why)

    def delete_model(self, request: HttpRequest, obj: Collection) -> None:
        with transaction.atomic():
            set_members(obj, [])
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Collection]) -> None:
        with transaction.atomic():
            for collection in queryset:
                set_members(collection, [])
            super().delete_queryset(request, queryset)


def _limits_beside(collection: Any) -> Limits:
    shipped = Limits()
    return Limits(
        max_calls=collection.max_calls or shipped.max_calls,
        max_explorers=shipped.max_explorers if collection.max_explorers is None else collection.max_explorers,
    )
