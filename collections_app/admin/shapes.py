"""Shapes: kinds of work, described for the model that picks one, and the roles that may explore on each."""

from collections import Counter
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import prefetch_related_objects
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminTextareaWidget

from collections_app.admin.fields import RolesField
from collections_app.admin.rows import RowAdmin, chips
from collections_app.models import Shape
from collections_app.selectors import active_models


class ShapeForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    roles = RolesField(label="Admitted roles", help_text="Models of these roles may explore on this shape.")

    class Meta:
        model = Shape
        fields = ("name", "description", "roles")
        widgets = {"description": UnfoldAdminTextareaWidget(attrs={"rows": 3})}


class ShapeList(ChangeList):
    """A page of shapes, each with the collections that have it, and with how many active models may explore on it."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        shapes: list[Any] = list(self.result_list)
        prefetch_related_objects(shapes, "collections")
        roles = Counter(model.role for model in active_models())
        for shape in shapes:
            shape.explorers = sum(roles[role] for role in shape.roles)
        self.result_list = shapes


@admin.register(Shape)
class ShapeAdmin(RowAdmin):
    about = (
        "Kinds of work. A request has its collection's shape; else vision, when it has images; else what a decision model "
        "picks; else general. Models of the roles that it admits may explore on it."
    )
    nothing_yet = "Without shapes every request is general, and models of that role explore."
    form = ShapeForm
    list_display = ("name", "admits", "explorers", "set_on", "described")
    search_fields = ("name", "description")

    @admin.display(description="admitted roles")
    def admits(self, shape: Shape) -> SafeString:
        return chips(map(str, shape.roles))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return ShapeList

    @admin.display(description="may explore")
    def explorers(self, shape: Any) -> str:
        return f"{shape.explorers} model{'' if shape.explorers == 1 else 's'}"

    @admin.display(description="set on")
    def set_on(self, shape: Shape) -> SafeString:
        return chips(collection.asked_as for collection in shape.collections.all())

    @admin.display(description="description")
    def described(self, shape: Shape) -> str:
        return shape.description
